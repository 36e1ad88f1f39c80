#include <unistd.h>

#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/sessions.h"
#include "libsvc/net/tls/x509.h"

namespace svc::cli {
namespace {

constexpr std::size_t shown_digits = 12;
constexpr std::size_t max_certificate = 1U << 20U;

std::string read_certificate(const Console& console, const std::string& path) {
    if (path != "-")
        return with_context("certificate " + quoted(path), [&] { return read_file(path, max_certificate); });
    std::string text;
    while (const auto line = console.read_line()) text += *line + "\n";
    return text;
}

Json certificate_value(const Json& record) {
    const X509Certificate parsed = parse_x509(text_of(record, "certificate"));
    return Json::object({{"fingerprint", text_of(record, "fingerprint")},
                         {"common-name", parsed.common_name},
                         {"role", text_of(record, "role")},
                         {"issue-date", time_text(to_unix_seconds(parsed.not_before))},
                         {"expiry-date", time_text(to_unix_seconds(parsed.not_after))}});
}

int list_certificates(Context& context, const Arguments& arguments) {
    Document document{Json::array(),
                      {{"FINGERPRINT", "COMMON NAME", "ROLE", "ISSUE DATE", "EXPIRY DATE"}, {}}};
    for (const Json& record : context.client().certificates()) {
        const Json value = certificate_value(record);
        document.table.rows.push_back({text_of(value, "fingerprint").substr(0, shown_digits),
                                       text_of(value, "common-name"), text_of(value, "role"),
                                       text_of(value, "issue-date"), text_of(value, "expiry-date")});
        document.value.push_back(value);
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int add_certificate(Context& context, const Arguments& arguments) {
    const std::string text = read_certificate(context.console(), arguments.text("path"));
    const X509Certificate certificate = parse_x509(text);
    context.client().add_certificate(base64_encode(certificate.der), arguments.text("trust-password"),
                                     arguments.text("role"));
    context.console().print_line(certificate.fingerprint);
    return 0;
}

// Finds a client by the first digits of its fingerprint, or by its common name when that is unique.
std::string find_fingerprint(Context& context, const std::string& wanted) {
    std::vector<std::string> found;
    for (const Json& record : context.client().certificates()) {
        const std::string fingerprint = text_of(record, "fingerprint");
        if (fingerprint.starts_with(wanted) ||
            parse_x509(text_of(record, "certificate")).common_name == wanted)
            found.push_back(fingerprint);
    }
    if (found.empty()) throw Error(ErrorCode::not_found, "no certificate " + quoted(wanted));
    if (found.size() > 1)
        throw Error(ErrorCode::conflict, std::to_string(found.size()) + " certificates are called " +
                                             quoted(wanted) + ": give more of the fingerprint");
    return found.front();
}

int remove_certificate(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    const std::string fingerprint = find_fingerprint(context, arguments.text("certificate"));
    waiting.finish(context.client().delete_certificate(fingerprint));
    return 0;
}

int change_role(Context& context, const Arguments& arguments) {
    const std::string fingerprint = find_fingerprint(context, arguments.text("certificate"));
    set_certificate_role(context.client(), fingerprint, arguments.text("role"));
    return 0;
}

int issue_token(Context& context, const Arguments& arguments) {
    const Json token = context.client().create_join_token(arguments.text("name"), arguments.text("expiry"),
                                                          arguments.text("role"));
    context.console().print_error_line("Good for one client, until " +
                                       time_text(number_of(token, "expires_at")) + ":");
    context.console().print_line(text_of(token, "token"));
    return 0;
}

int list_tokens(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"ID", "NAME", "ROLE", "CREATED", "EXPIRES"}, {}}};
    for (const Json& token : context.client().join_tokens()) {
        document.value.push_back(token);
        document.table.rows.push_back({text_of(token, "id"), text_of(token, "name"), text_of(token, "role"),
                                       time_text(number_of(token, "created_at")),
                                       time_text(number_of(token, "expires_at"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int revoke_token(Context& context, const Arguments& arguments) {
    context.client().delete_join_token(arguments.text("id"));
    return 0;
}

Flag role_flag(std::string_view initial) {
    return {
        "role", 0, "ROLE", "what the client may do", std::string(initial), {"viewer", "operator", "admin"}};
}

std::vector<std::string> path_of(const std::vector<std::string>& group, std::string word) {
    std::vector<std::string> path = group;
    path.push_back(std::move(word));
    return path;
}

}  // namespace

std::vector<Command> trust_commands(const std::vector<std::string>& group) {
    return {
        {path_of(group, "add"),
         {},
         "trust a client's certificate",
         {{"path", "file with the certificate in PEM or base64; -: standard input"}},
         {{"trust-password", 0, "TEXT", "where the service does not trust this client yet"}, role_flag("")},
         add_certificate,
         "Prints the certificate's fingerprint."},
        {path_of(group, "list"),
         {"ls"},
         "list trusted certificates",
         {},
         {format_flag("table")},
         list_certificates},
        {path_of(group, "remove"),
         {"rm"},
         "trust a certificate no longer",
         {{"certificate", "its fingerprint, the first digits of it, or its common name"}},
         {timeout_flag()},
         remove_certificate,
         "Its open connections end."},
        {path_of(group, "role"),
         {},
         "change what a trusted client may do",
         {{"certificate", "its fingerprint, the first digits of it, or its common name"},
          {"role", "viewer, operator or admin"}},
         {},
         change_role,
         "A lower role also ends its open connections."},
        {path_of(group, "token"),
         {},
         "make an invitation that one client can use once",
         {{"name", "who it is for"}},
         {{"expiry", 'e', "DURATION", "how long it is good", "24h"}, role_flag("admin")},
         issue_token,
         "The client gives it to 'svcctl remote add ... --token'."},
        {path_of(group, "list-tokens"), {}, "list invitations", {}, {format_flag("table")}, list_tokens},
        {path_of(group, "revoke-token"),
         {},
         "take an invitation back",
         {{"id", "its id, as list-tokens shows it"}},
         {},
         revoke_token},
    };
}

}  // namespace svc::cli
