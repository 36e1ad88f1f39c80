#include "libsvc/net/client/client_channel.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::net {

namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

[[noreturn]] void throw_unreachable(const Target& target, const std::string& why) {
    throw Error(ErrorCode::unavailable, "cannot reach " + target.describe() + ": " + why);
}

// False on timeout.
bool wait_for(int fd, IoState direction, Steady::time_point deadline) {
    pollfd poll_me{fd, static_cast<short>(direction == IoState::want_write ? POLLOUT : POLLIN), 0};
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Steady::now()).count();
        if (left < 0) return false;
        const int ready = poll(&poll_me, 1, static_cast<int>(std::min<long>(left, 1'000'000)));
        if (ready > 0) return true;
        if (ready == 0 && Steady::now() >= deadline) return false;
        if (ready < 0 && errno != EINTR) throw system_error("cannot wait for a socket", errno);
    }
}

FileDescriptor made_socket(int family, int flags) {
    FileDescriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
    if (!fd) throw system_error("cannot make socket", errno);
    return fd;
}

[[noreturn]] void throw_unreachable(const Target& target, int error) {
    throw_unreachable(target, std::generic_category().message(error));
}

// Whoever waits for the socket wakes, also for a connection that is not there yet.
auto shut_down_on(const std::stop_token& stop, int fd) {
    return std::stop_callback(stop, [fd] { ::shutdown(fd, SHUT_RDWR); });
}

// connect() blocks while the backlog is full, with a timeout of the kernel.
FileDescriptor connect_unix(const Target& target, milliseconds timeout) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto& path = target.unix_path.native();
    if (path.size() >= sizeof(address.sun_path)) throw_unreachable(target, "the socket path is too long");
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    FileDescriptor fd = made_socket(AF_UNIX, 0);
    const timeval limit{timeout.count() / 1000, (timeout.count() % 1000) * 1000};
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw_unreachable(target, errno == EAGAIN ? ETIMEDOUT : errno);
    if (fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) throw system_error("cannot set up socket", errno);
    return fd;
}

FileDescriptor connect_to(const Target& target, const addrinfo& address, milliseconds timeout,
                          const std::stop_token& stop) {
    FileDescriptor fd = made_socket(address.ai_family, SOCK_NONBLOCK);
    if (connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS)
        throw_unreachable(target, errno);
    const auto given_up = shut_down_on(stop, fd.get());
    if (!wait_for(fd.get(), IoState::want_write, Steady::now() + timeout))
        throw_unreachable(target, ETIMEDOUT);
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) throw_unreachable(target, error);
    return fd;
}

// A machine that was cut off or has lost its power closes no connection. Whoever waits for its answer hears
// of it nevertheless: the kernel asks the other side, and ends a connection that stays silent.
void end_when_silent(int fd) {
    constexpr int idle = 5, between = 3, limit = 15;  // seconds
    constexpr int on = 1, times = (limit - idle) / between + 1;
    constexpr unsigned unacknowledged = limit * 1000;  // milliseconds
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof(between));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof(unacknowledged));
}

FileDescriptor connect_tcp(const Target& target, milliseconds timeout, const std::stop_token& stop) {
    const std::string& host = target.proxy ? target.proxy->host : target.host;
    const auto port = target.proxy ? target.proxy->port : target.port;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (error != 0) throw_unreachable(target, gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
    for (const addrinfo* one = found;; one = one->ai_next) {
        try {
            if (stop.stop_requested()) throw_unreachable(target, ECANCELED);
            FileDescriptor fd = connect_to(target, *one, timeout, stop);
            const int on = 1;
            setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            end_when_silent(fd.get());
            return fd;
        } catch (const Error&) {
            if (one->ai_next == nullptr) throw;
        }
    }
}

std::string tunnel_request(const Target& target) {
    const auto url = target.describe();
    const auto authority = url.substr(url.find("//") + 2);
    std::string out = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    if (!target.proxy->authorization.empty())
        out += "Proxy-Authorization: " + target.proxy->authorization + "\r\n";
    return out + "\r\n";
}

// Reads up to the empty line. A TLS server sends nothing before the handshake, so nothing of it is read here.
std::string read_tunnel_reply(const Target& target, int fd, Steady::time_point deadline) {
    constexpr std::size_t max_bytes = 16U << 10;
    std::string reply;
    while (!reply.ends_with("\r\n\r\n")) {
        char byte = 0;
        const ssize_t count = recv(fd, &byte, 1, MSG_DONTWAIT);
        if (count == 1) reply += byte;
        if (count == 0 || reply.size() > max_bytes) throw_unreachable(target, "its proxy does not answer");
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            throw_unreachable(target, "its proxy does not answer");
        if (count < 0 && !wait_for(fd, IoState::want_read, deadline))
            throw_unreachable(target, "its proxy timed out");
    }
    return reply;
}

// Asks the proxy for a connection to the target.
void open_tunnel(const Target& target, int fd, milliseconds timeout) {
    const std::string request = tunnel_request(target);
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        throw_unreachable(target, "its proxy takes no data");
    const std::string reply = read_tunnel_reply(target, fd, Steady::now() + timeout);
    const auto status = reply.substr(0, reply.find("\r\n"));
    if (!status.starts_with("HTTP/1.") || status.substr(8, 3) != " 20")
        throw_unreachable(target, "its proxy answers " + quoted(status));
}

FileDescriptor connect_socket(const Target& target, milliseconds timeout, const std::stop_token& stop) {
    if (!target.unix_path.empty()) return connect_unix(target, timeout);
    FileDescriptor fd = connect_tcp(target, timeout, stop);
    const auto given_up = shut_down_on(stop, fd.get());
    if (target.proxy && target.tls) open_tunnel(target, fd.get(), timeout);
    return fd;
}

}  // namespace

ClientChannel::ClientChannel(Target target, Milliseconds timeout, const std::stop_token& stop)
    : target_(std::move(target)),
      socket_(connect_socket(target_, timeout, stop)),
      stream_(socket_.get(), target_) {
    if (!stream_.is_tls()) return;
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL cannot say MSG_NOSIGNAL
    const auto given_up = shut_down_on(stop, socket_.get());
    greet(timeout);
}

std::string ClientChannel::host() const {
    if (!target_.unix_path.empty()) return "localhost";
    Target asked;
    asked.host = target_.tls_name();
    asked.port = target_.port;
    const auto url = asked.describe();
    return url.substr(url.find("//") + 2);
}

void ClientChannel::greet(Milliseconds timeout) {
    const auto deadline = Steady::now() + timeout;
    for (;;) {
        const IoResult result = stream_.handshake();
        if (result.state == IoState::done) return;
        if (result.state == IoState::failed || result.state == IoState::ended)
            throw_unreachable(target_, stream_.refused_peer() ? "its certificate is not the expected one"
                                                              : "TLS handshake failed" + told());
        if (!wait_for(socket_.get(), result.state, deadline))
            throw_unreachable(target_, "TLS handshake timed out");
    }
}

// What TLS says of a failure; a server refuses a client's certificate only after the handshake.
std::string ClientChannel::told() const {
    return stream_.failure().empty() ? "" : ": " + stream_.failure();
}

std::optional<std::size_t> ClientChannel::read(char* into, std::size_t size, Milliseconds timeout) {
    const auto deadline = Steady::now() + timeout;
    for (;;) {
        IoResult result;
        {
            std::lock_guard lock(mutex_);
            result = stream_.read(into, size);
        }
        if (result.state == IoState::done) return result.bytes;
        if (result.state == IoState::ended) return 0;
        if (result.state == IoState::failed)
            throw Error(ErrorCode::unavailable, "connection to " + target_.describe() + " broke" + told());
        if (!wait_for(socket_.get(), result.state, deadline)) return std::nullopt;
    }
}

void ClientChannel::write(std::string_view data, Milliseconds timeout) {
    while (!data.empty()) {
        IoResult result;
        {
            std::lock_guard lock(mutex_);
            result = stream_.write(data.data(), data.size());
        }
        if (result.state == IoState::done) {
            data.remove_prefix(result.bytes);
            continue;
        }
        if (result.state == IoState::ended || result.state == IoState::failed)
            throw Error(ErrorCode::unavailable, "connection to " + target_.describe() + " broke");
        if (!wait_for(socket_.get(), result.state, Steady::now() + timeout))
            throw Error(ErrorCode::unavailable, target_.describe() + " takes no more data");
    }
}

void ClientChannel::interrupt() {
    ::shutdown(socket_.get(), SHUT_RDWR);
}

void ClientChannel::shut_down() {
    std::lock_guard lock(mutex_);
    stream_.shut_down();
}

}  // namespace svc::net
