#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/connection/target.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/server_certificate.h"

namespace svc::cli {
namespace {

Positional one_remote() {
    return {"name", "name of the remote"};
}
Positional remote_address() {
    return {"address", "https://host:port, or unix:///path"};
}
Flag accept_flag() {
    return {"accept-certificate", 0, "", "trust the certificate the service presents, without asking"};
}

Target parse_address(const Arguments& arguments) {
    try {
        return Target::parse(arguments.text("address"));
    } catch (const Error& e) {
        throw UsageError(e.what());
    }
}

// The server's fingerprint, after the user has confirmed it; "" without TLS.
std::string agreed_fingerprint(Context& context, const Arguments& arguments, const Target& target) {
    if (!target.unix_path.empty() || !target.tls) return "";
    std::string fingerprint = server_certificate(target).fingerprint;
    if (arguments.is_set("accept-certificate")) return fingerprint;
    context.console().print_error_line("The service presents a certificate with SHA-256 fingerprint\n  " +
                                       fingerprint);
    confirm(context.console(), "Is this the right one?");
    return fingerprint;
}

// Adds the client's certificate to the service's trusted ones, or tells the user that the service does not
// know it.
void introduce(Context& context, const Arguments& arguments, const Remote& remote, const Config& config) {
    ApiClient client(target_of(remote, config));
    if (text_of(client.server(), "auth") == "trusted") return;
    const auto certificate = config.key_pair().certificate;
    const std::string der = base64_encode(parse_certificate(read_file(certificate)).der);
    if (arguments.given("token")) return client.add_certificate_with_token(der, arguments.text("token"));
    if (arguments.given("trust-password"))
        return client.add_certificate(der, arguments.text("trust-password"));
    context.console().print_error_line("The service does not trust this client yet; its certificate is " +
                                       certificate.string());
}

int add_remote(Context& context, const Arguments& arguments) {
    const Target target = parse_address(arguments);
    Config config = context.config();
    const std::string name = arguments.text("name");
    if (config.find(name) != nullptr)
        throw Error(ErrorCode::conflict, "remote " + quoted(name) + " already exists");
    const Remote remote{name, arguments.text("address"), agreed_fingerprint(context, arguments, target)};
    if (target.unix_path.empty()) introduce(context, arguments, remote, config);
    config.add(remote);
    return 0;
}

int list_remotes(Context& context, const Arguments& arguments) {
    const Config config = context.config();
    Document document{Json::array(), {{"NAME", "URL", "DEFAULT"}, {}}};
    for (const Remote& remote : config.remotes()) {
        const bool is_default = remote.name == config.default_remote();
        document.value.push_back(Json::object({{"name", remote.name},
                                               {"url", remote.url},
                                               {"default", is_default},
                                               {"server_fingerprint", remote.server_fingerprint}}));
        document.table.rows.push_back({remote.name, remote.url, yes_no(is_default)});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int set_url(Context& context, const Arguments& arguments) {
    const Target target = parse_address(arguments);
    Config config = context.config();
    config.get(arguments.text("name"));
    const std::string fingerprint = agreed_fingerprint(context, arguments, target);
    config.set_url(arguments.text("name"), arguments.text("address"), fingerprint);
    return 0;
}

}  // namespace

Command remote_add_command() {
    return {
        {"remote", "add"},
        {},
        "remember a service under a name",
        {one_remote(), remote_address(), {"trust-password", "makes the service trust this client", false}},
        {accept_flag(), {"token", 0, "TEXT", "an invitation ('svcctl trust token') instead of the password"}},
        add_remote,
        "Shows the fingerprint of the service's certificate and asks whether it is right; from then on only "
        "that\n"
        "certificate is accepted. The client's own key is made at first use."};
}

Command remote_list_command() {
    return {{"remote", "list"}, {"ls"}, "list known services", {}, {format_flag("table")}, list_remotes};
}

Command remote_remove_command() {
    return {{"remote", "remove"},
            {"rm"},
            "forget a service",
            {one_remote()},
            {},
            [](Context& context, const Arguments& arguments) {
                context.config().remove(arguments.text("name"));
                return 0;
            }};
}

Command remote_set_default_command() {
    return {{"remote", "set-default"},
            {},
            "choose the service that commands speak to",
            {one_remote()},
            {},
            [](Context& context, const Arguments& arguments) {
                context.config().set_default(arguments.text("name"));
                return 0;
            }};
}

Command remote_set_url_command() {
    return {
        {"remote", "set-url"}, {},     "change the address of a service", {one_remote(), remote_address()},
        {accept_flag()},       set_url};
}

}  // namespace svc::cli
