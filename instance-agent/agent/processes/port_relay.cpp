#include "instance-agent/agent/processes/port_relay.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* connect_usage =
    "usage: svc-agent connect PORT|ADDRESS:PORT|unix:PATH\n"
    "Joins standard input and output to a server in the instance.\n";
constexpr std::size_t relay_bytes = 64U << 10;

union Address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
    sockaddr_un local;
};

[[noreturn]] void throw_target(const std::string& target) {
    throw Error(ErrorCode::invalid_argument, quoted(target) + " is no port, address and port, or unix:PATH");
}

std::uint16_t port_of(std::string_view text, const std::string& target) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port == 0) throw_target(target);
    return port;
}

socklen_t local_address(const std::string& path, const std::string& target, Address& address) {
    if (path.empty() || path.size() >= sizeof address.local.sun_path) throw_target(target);
    address.local.sun_family = AF_UNIX;
    std::memcpy(address.local.sun_path, path.data(), path.size());
    return sizeof address.local;
}

socklen_t parse(const std::string& target, Address& address) {
    constexpr std::string_view local = "unix:";
    if (target.starts_with(local)) return local_address(target.substr(local.size()), target, address);
    const std::size_t colon = target.rfind(':');
    std::string host = colon == std::string::npos ? "127.0.0.1" : target.substr(0, colon);
    const std::uint16_t port = port_of(std::string_view(target).substr(colon + 1), target);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (::inet_pton(AF_INET, host.c_str(), &address.v4.sin_addr) == 1) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons(port);
        return sizeof address.v4;
    }
    if (::inet_pton(AF_INET6, host.c_str(), &address.v6.sin6_addr) != 1) throw_target(target);
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    return sizeof address.v6;
}

FileDescriptor connected(const std::string& target) {
    Address address{};
    const socklen_t size = parse(target, address);
    FileDescriptor socket(::socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) throw system_error("cannot make a socket", errno);
    if (::connect(socket.get(), &address.any, size) != 0)
        throw Error(ErrorCode::unavailable, "cannot connect to " + target + ": " + std::strerror(errno));
    const int at_once = 1;
    if (address.any.sa_family != AF_UNIX)
        ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    return socket;
}

void set_nonblocking(int fd) {
    if (::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
        throw system_error("cannot set up a stream", errno);
}

// Bytes on their way from one descriptor to another.
class Way {
  public:
    Way(int from, int to) : from_(from), to_(to) {}
    bool reads() const { return !ended_ && waiting_.empty(); }
    bool writes() const { return !waiting_.empty(); }
    bool over() const { return ended_ && waiting_.empty(); }
    void read_some() {
        std::array<char, relay_bytes> block;
        const ssize_t count = ::read(from_, block.data(), block.size());
        if (count > 0) waiting_.assign(block.data(), static_cast<std::size_t>(count));
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) ended_ = true;
    }
    void write_some() {
        const ssize_t count = ::write(to_, waiting_.data(), waiting_.size());
        if (count > 0) waiting_.erase(0, static_cast<std::size_t>(count));
        if (count >= 0 || errno == EAGAIN || errno == EINTR) return;
        waiting_.clear();  // whoever wanted it has gone
        ended_ = true;
    }

  private:
    int from_, to_;
    std::string waiting_;
    bool ended_ = false;
};

void relay(int socket) {
    Way in(STDIN_FILENO, socket), out(socket, STDOUT_FILENO);
    bool sending = true;
    while (!out.over()) {
        std::array<pollfd, 4> polled{{{in.reads() ? STDIN_FILENO : -1, POLLIN, 0},
                                      {in.writes() ? socket : -1, POLLOUT, 0},
                                      {out.reads() ? socket : -1, POLLIN, 0},
                                      {out.writes() ? STDOUT_FILENO : -1, POLLOUT, 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
            throw system_error("cannot wait for a stream", errno);
        if (polled[0].revents != 0) in.read_some();
        if (polled[1].revents != 0) in.write_some();
        if (polled[2].revents != 0) out.read_some();
        if (polled[3].revents != 0) out.write_some();
        if (in.over() && std::exchange(sending, false)) ::shutdown(socket, SHUT_WR);
    }
}

}  // namespace

int run_port_relay(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--help"}) return std::fputs(connect_usage, stdout), 0;
    if (words.size() != 1) throw Error(ErrorCode::invalid_argument, "connect needs one target");
    ::signal(SIGPIPE, SIG_IGN);  // one direction may end before the other
    const FileDescriptor socket = connected(words[0]);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, socket.get()}) set_nonblocking(fd);
    relay(socket.get());
    return 0;
}

}  // namespace svc::agent
