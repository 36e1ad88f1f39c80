#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "instance-agent/agent/ctl/ctl_command.h"
#include "libsvc/base/file.h"

namespace svc::agent {
namespace {

constexpr const char* camera = "/1.0/camera";
constexpr const char* camera_data = "/1.0/camera/data";
constexpr std::size_t most_image = 32U << 20;
constexpr std::size_t block_bytes = 1U << 20;

FileDescriptor connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        throw Error(ErrorCode::internal, "the path of the video socket is too long");
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw system_error("cannot reach the video socket", errno);
    return fd;
}

[[noreturn]] void throw_closed() {
    throw Error(ErrorCode::busy, "the camera takes no video: it was switched off, or somebody else sends it");
}

void send_all(int socket, std::string_view data) {
    while (!data.empty()) {
        const ssize_t sent = ::send(socket, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) throw_closed();
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
}

// The agent sends nothing on this socket: it becomes readable when the agent closes it.
void wait_for_input(int in, int socket) {
    pollfd both[] = {{in, POLLIN, 0}, {socket, POLLIN, 0}};
    while (::poll(both, 2, -1) < 0 && errno == EINTR) {
    }
    if (both[1].revents != 0) throw_closed();
}

void stream(const CtlCall& call) {
    const Json answer = call.agent.ask(Method::post, camera, R"({"enable":true})");
    const FileDescriptor socket = connect_to(answer.at("video_stream_socket").as_string());
    std::string block(block_bytes, '\0');
    for (;;) {
        wait_for_input(call.streams.in, socket.get());
        const ssize_t got = ::read(call.streams.in, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read standard input", errno);
        if (got == 0) return;
        send_all(socket.get(), std::string_view(block).substr(0, static_cast<std::size_t>(got)));
    }
}

}  // namespace

std::vector<CtlCommand> camera_ctl() {
    auto commands = switch_ctl("camera", camera);
    commands.push_back({"camera", "image", "FILE|-", 1, 1, {}, [](const CtlCall& call) {
                            const std::string image = read_input(call, call.plain(0), most_image);
                            (void)call.agent.ask(Method::post, camera_data, image);
                        }});
    commands.push_back({"camera", "clear", "", 0, 0, {}, [](const CtlCall& call) {
                            (void)call.agent.ask(Method::delete_, camera_data);
                        }});
    commands.push_back({"camera", "stream", "< RGBA FRAMES (switches the camera on)", 0, 0, {}, stream});
    return commands;
}

}  // namespace svc::agent
