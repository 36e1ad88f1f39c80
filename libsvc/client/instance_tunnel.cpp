#include "libsvc/client/instance_tunnel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/client/agent_command.h"

namespace svc {

namespace {

constexpr std::size_t tunnel_block = 64U << 10;

void send_all(int connection, RemoteExec& session) {
    std::array<char, tunnel_block> block;
    for (;;) {
        const ssize_t got = ::read(connection, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return session.end_input();
        session.send_input({block.data(), static_cast<std::size_t>(got)});
    }
}

}  // namespace

void join_to_instance(ApiClient& client, std::string_view instance, const std::string& target,
                      const FileDescriptor& connection, const std::stop_token& stop) {
    AgentCommand command;
    command.words = {"connect", target};
    command.stop = stop;
    command.input = [&](RemoteExec& session) { send_all(connection.get(), session); };
    bool client_gone = false;
    command.output = [&](std::string_view data) {
        if (send_to_socket(connection.get(), data)) return;
        client_gone = true;
        throw Error(ErrorCode::cancelled, "the client has closed the connection");
    };
    command.ended = [&] { ::shutdown(connection.get(), SHUT_RDWR); };
    try {
        run_agent(client, instance, command);
    } catch (const Error&) {
        if (!client_gone) throw;
    }
}

}  // namespace svc
