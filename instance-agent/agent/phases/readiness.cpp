#include "instance-agent/agent/phases/readiness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration first_check_pause = 5ms;
constexpr Duration longest_check_pause = 500ms;
constexpr auto check_command_limit = 10s;

std::optional<std::string> check_file(const std::string& path) {
    if (path.empty() || ::access(path.c_str(), F_OK) == 0) return std::nullopt;
    return "file " + quoted(path) + " does not exist";
}

std::optional<std::string> why_command_fails(const std::string& command, const std::string& shell) try {
    if (command.empty()) return std::nullopt;
    const int code = run_command({shell, "-c", command}, check_command_limit).status.code;
    if (code == 0) return std::nullopt;
    return "command " + quoted(command) + " exits with " + std::to_string(code);
} catch (const Error& e) {
    return "command " + quoted(command) + ": " + e.what();
}

std::optional<std::string> check_port(std::uint16_t port) {
    if (port == 0) return std::nullopt;
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (socket && ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return std::nullopt;
    return "port " + std::to_string(port) + " does not accept connections";
}

}  // namespace

std::optional<std::string> why_not_ready(const ReadinessCheck& check, const std::string& shell) {
    if (auto reason = check_file(check.file)) return reason;
    if (auto reason = check_port(check.port)) return reason;
    return why_command_fails(check.command, shell);
}

bool wait_until_ready(const ReadinessCheck& check, Clock& clock, Duration limit, Duration spent,
                      std::stop_token stop, const std::string& shell) {
    const SteadyTime end = clock.steady_now() + limit - spent;
    Duration pause = first_check_pause;
    while (auto reason = why_not_ready(check, shell)) {
        if (clock.steady_now() >= end)
            throw Error(ErrorCode::unavailable,
                        "guest is not ready after " + format_duration(limit) + ": " + *reason);
        if (!clock.wait(stop, pause)) return false;
        pause = std::min(pause * 2, longest_check_pause);
    }
    return !stop.stop_requested();
}

}  // namespace svc::agent
