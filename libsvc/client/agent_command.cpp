#include "libsvc/client/agent_command.h"

#include <sys/socket.h>

#include <cerrno>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr const char* agent_program = "/var/lib/svc-agent/bin/svc-agent";
constexpr std::size_t max_reason = 4096;
constexpr int wrong_usage = 2, not_there = 3;  // exit statuses of svc-agent

// What svc-agent says last, without its name.
std::string reason_in(const std::string& errors) {
    const std::vector<std::string> lines = split(trim(errors), '\n');
    constexpr std::string_view own = "svc-agent: ";
    const std::string last = lines.empty() ? "svc-agent gives no reason" : lines.back();
    return last.starts_with(own) ? last.substr(own.size()) : last;
}

ErrorCode code_of(int status) {
    if (status == not_there) return ErrorCode::not_found;
    return status == wrong_usage ? ErrorCode::invalid_argument : ErrorCode::internal;
}

void check(const RemoteExecResult& result, const std::string& errors) {
    if (result.lost) throw Error(ErrorCode::unavailable, "the connection to the instance was lost");
    if (!result.error.empty()) throw Error(ErrorCode::unavailable, result.error);
    const int status = result.status.value_or(1);
    if (status != 0) throw Error(code_of(status), reason_in(errors));
}

}  // namespace

void run_agent(ApiClient& client, std::string_view instance, const AgentCommand& command) {
    ExecRequest request;
    request.command = {agent_program};
    request.command.insert(request.command.end(), command.words.begin(), command.words.end());
    RemoteExec session(client, instance, request);
    const std::stop_callback end(command.stop, [&] {
        session.abort();
        if (command.ended) command.ended();  // `output` may wait for whoever does not read
    });
    std::jthread input([&] {
        try {
            command.input(session);
        } catch (const std::exception&) {
            // The command does not read any more; its end tells why.
        }
    });
    std::string errors;
    struct Wake {
        RemoteExec& session;
        const AgentCommand& command;
        ~Wake() {
            session.abort();
            if (command.ended) command.ended();
        }
    } const wake{session, command};
    const RemoteExecResult result = session.run([&](int stream, std::string_view data) {
        if (stream == 1) return command.output(data);
        if (errors.size() < max_reason) errors += data.substr(0, max_reason);
    });
    if (!command.stop.stop_requested()) check(result, errors);
}

bool send_to_socket(int socket, std::string_view data) {
    while (!data.empty()) {
        const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return false;
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace svc
