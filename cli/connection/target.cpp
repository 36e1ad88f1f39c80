#include "cli/connection/target.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/digest.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

Target unix_target(const std::string& path) {
    Target target;
    target.unix_path = path;
    return target;
}

void refuse_together(const Arguments& arguments, std::string_view one, std::string_view other) {
    if (arguments.given(one) && arguments.given(other))
        throw UsageError("--" + std::string(one) + " and --" + std::string(other) + " exclude each other");
}

Target remote_target(const Arguments& arguments) {
    Target target;
    try {
        target = Target::parse(arguments.text("url"));
    } catch (const Error& e) {
        throw UsageError(std::string("--url: ") + e.what());
    }
    if (arguments.given("cert") != arguments.given("key"))
        throw UsageError("--cert and --key belong together");
    if (arguments.given("cert")) target.identity = KeyPair{arguments.text("cert"), arguments.text("key")};
    target.server_fingerprint = to_lower(arguments.text("server-fingerprint"));
    if (!target.server_fingerprint.empty() && !is_sha256_hex(target.server_fingerprint))
        throw UsageError("--server-fingerprint: expected 64 hexadecimal digits");
    return target;
}

}  // namespace

const std::vector<Flag>& global_flags() {
    static const std::vector<Flag> flags{
        {"socket", 0, "PATH",
         "local socket of the service (default: $SVC_SOCKET, else /run/svc/unix.socket)"},
        {"remote", 0, "NAME", "service to speak to, see 'svcctl remote'"},
        {"url", 0, "URL", "service to speak to, https://host:port"},
        {"cert", 0, "FILE", "client certificate for --url"},
        {"key", 0, "FILE", "key of the client certificate"},
        {"server-fingerprint", 0, "HEX", "SHA-256 of the only certificate --url may present"},
        {"help", 'h', "", "show this help"},
    };
    return flags;
}

Target choose_target(const Arguments& arguments, const std::string& socket_of_environment,
                     const std::filesystem::path& config_directory) {
    refuse_together(arguments, "url", "remote");
    refuse_together(arguments, "url", "socket");
    refuse_together(arguments, "remote", "socket");
    for (const auto* name : {"cert", "key", "server-fingerprint"})
        if (arguments.given(name) && !arguments.given("url"))
            throw UsageError(std::string("--") + name + " needs --url");
    if (arguments.given("url")) return remote_target(arguments);
    if (arguments.given("socket")) return unix_target(arguments.text("socket"));
    if (!arguments.given("remote") && !socket_of_environment.empty())
        return unix_target(socket_of_environment);
    const Config config(config_directory);
    return target_of(
        config.get(arguments.given("remote") ? arguments.text("remote") : config.default_remote()), config);
}

Target target_of(const Remote& remote, const Config& config) {
    Target target = Target::parse(remote.url);
    if (!target.unix_path.empty()) return target;
    target.server_fingerprint = remote.server_fingerprint;
    if (target.tls) target.identity = config.key_pair();
    return target;
}

std::string explain_unreachable(const Target& target, const std::string& reason, const std::string& program,
                                const std::string& group) {
    if (target.unix_path.empty()) return reason;
    const std::string socket = quoted(target.unix_path.string());
    struct stat status {};
    if (::stat(target.unix_path.c_str(), &status) != 0 && errno == ENOENT)
        return "socket " + socket + " does not exist; is " + program + " running?";
    if (::access(target.unix_path.c_str(), R_OK | W_OK) != 0 && errno == EACCES)
        return "permission denied on socket " + socket + "; use it as root" +
               (group.empty() ? ""
                              : " or as a member of group '" + group + "' (usermod -aG " + group +
                                    " USER, then log in again)");
    return reason;
}

}  // namespace svc::cli
