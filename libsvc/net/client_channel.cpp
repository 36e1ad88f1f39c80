#include "libsvc/net/client_channel.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/http_parser.h"

namespace svc::net {

namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds continue_patience{
    1000};  // a server that knows no "100 Continue" gets the body after this
constexpr std::size_t source_piece = 256U << 10;

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

// Blocking with the kernel's own limit: it works alike for TCP and for a Unix socket whose backlog is full.
FileDescriptor connect_to(const Target& target, int family, const sockaddr* address, socklen_t size,
                          milliseconds timeout) {
    FileDescriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) throw system_error("cannot make socket", errno);
    const timeval limit{timeout.count() / 1000, (timeout.count() % 1000) * 1000};
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd.get(), address, size) != 0) {
        const int error = errno == EINPROGRESS || errno == EAGAIN ? ETIMEDOUT : errno;
        throw_unreachable(target, std::generic_category().message(error));
    }
    if (fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) throw system_error("cannot set up socket", errno);
    return fd;
}

FileDescriptor connect_unix(const Target& target, milliseconds timeout) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto& path = target.unix_path.native();
    if (path.size() >= sizeof(address.sun_path)) throw_unreachable(target, "the socket path is too long");
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    return connect_to(target, AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof(address), timeout);
}

FileDescriptor connect_tcp(const Target& target, milliseconds timeout) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
    if (error != 0) throw_unreachable(target, gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
    for (const addrinfo* one = found;; one = one->ai_next) {
        try {
            FileDescriptor fd = connect_to(target, one->ai_family, one->ai_addr, one->ai_addrlen, timeout);
            const int on = 1;
            setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            return fd;
        } catch (const Error&) {
            if (one->ai_next == nullptr) throw;
        }
    }
}

FileDescriptor connect_socket(const Target& target, milliseconds timeout) {
    return target.unix_path.empty() ? connect_tcp(target, timeout) : connect_unix(target, timeout);
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
    const auto append_clean = [&out](std::string_view text) {
        for (const char c : text)
            if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out += c;
    };
    append_clean(name);
    out += ": ";
    append_clean(value);
    out += "\r\n";
}

std::string request_head(const ClientChannel& channel, const ClientRequest& request) {
    if (request.path.find_first_of(" \r\n\t") != std::string::npos || !request.path.starts_with('/'))
        throw Error(ErrorCode::invalid_argument, "request path " + quoted(request.path) + " is invalid");
    std::string out;
    out.append(to_text(request.method)).append(" ").append(request.path).append(" HTTP/1.1\r\n");
    append_line(out, "Host", channel.host());
    for (const auto& [name, value] : request.headers) append_line(out, name, value);
    if (request.headers.find("Connection") == nullptr) append_line(out, "Connection", "close");
    if (request.source) {
        if (!request.length) throw Error(ErrorCode::internal, "a body from a source needs its length");
        append_line(out, "Content-Length", std::to_string(*request.length));
        append_line(out, "Expect", "100-continue");
        return out + "\r\n";
    }
    const bool has_body = !request.body.empty() || request.method == Method::post ||
                          request.method == Method::put || request.method == Method::patch;
    if (has_body) append_line(out, "Content-Length", std::to_string(request.body.size()));
    return out + "\r\n";
}

// Null view at the end of the stream.
bool read_more(ClientChannel& channel, InputBuffer& in, milliseconds timeout) {
    std::array<char, 16U << 10> buffer;
    const auto count = channel.read(buffer.data(), buffer.size(), timeout);
    if (!count) throw Error(ErrorCode::unavailable, channel.target().describe() + " does not answer");
    in.append(buffer.data(), *count);
    return *count > 0;
}

// Takes what has arrived, waiting at most `timeout` for it. True: the response's header is complete.
bool is_answered(ClientChannel& channel, ReplyParser& parser, InputBuffer& in, milliseconds timeout) {
    std::array<char, 16U << 10> buffer;
    const auto count = channel.read(buffer.data(), buffer.size(), timeout);
    if (!count) return false;
    in.append(buffer.data(), *count);
    if (*count == 0) parser.end_of_stream();
    return parser.take_header(in);
}

// Sends the body until its end, or until the server answers without having read it all: it does not want the
// rest. True: the response's header has been taken.
bool send_source(ClientChannel& channel, const ClientRequest& request, ReplyParser& parser, InputBuffer& in) {
    if (*request.length > 0 && is_answered(channel, parser, in, continue_patience)) return true;
    for (std::uint64_t sent = 0; sent < *request.length;) {
        const std::string piece =
            request.source(std::min<std::uint64_t>(source_piece, *request.length - sent));
        if (piece.empty()) throw Error(ErrorCode::invalid_argument, "the body is shorter than announced");
        try {
            channel.write(piece, request.timeout);
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            return false;  // the server closed: what it said before is still to be read
        }
        sent += piece.size();
        if (is_answered(channel, parser, in, milliseconds(0))) return true;
    }
    return false;
}

void read_body(ClientChannel& channel, const ClientRequest& request, ReplyParser& parser, InputBuffer& in,
               ClientReply& reply) {
    const bool to_sink = request.sink && reply.status >= 200 && reply.status < 300;
    std::string piece(64U << 10, '\0');
    while (!parser.complete()) {
        const std::size_t count = parser.take_body(in, piece.data(), piece.size());
        const auto data = std::string_view(piece).substr(0, count);
        if (to_sink && count > 0) request.sink(data);
        if (!to_sink) reply.body.append(data);
        if (count > 0 || parser.complete()) continue;
        if (!read_more(channel, in, request.timeout)) return parser.end_of_stream();
    }
}

}  // namespace

ClientChannel::ClientChannel(Target target, Milliseconds timeout)
    : target_(std::move(target)), socket_(connect_socket(target_, timeout)), stream_(socket_.get(), target_) {
    if (!stream_.is_tls()) return;
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL cannot say MSG_NOSIGNAL
    greet(timeout);
}

std::string ClientChannel::host() const {
    if (!target_.unix_path.empty()) return "localhost";
    const auto url = target_.describe();
    return url.substr(url.find("//") + 2);
}

void ClientChannel::greet(Milliseconds timeout) {
    const auto deadline = Steady::now() + timeout;
    for (;;) {
        const IoResult result = stream_.handshake();
        if (result.state == IoState::done) return;
        if (result.state == IoState::failed || result.state == IoState::ended)
            throw_unreachable(target_, stream_.refused_peer() ? "its certificate is not the expected one"
                                                              : "TLS handshake failed");
        if (!wait_for(socket_.get(), result.state, deadline))
            throw_unreachable(target_, "TLS handshake timed out");
    }
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
            throw Error(ErrorCode::unavailable, "connection to " + target_.describe() + " broke");
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

void ClientChannel::shut_down() {
    std::lock_guard lock(mutex_);
    stream_.shut_down();
}

ClientReply exchange(ClientChannel& channel, const ClientRequest& request, InputBuffer& in) {
    channel.write(request_head(channel, request) + request.body, request.timeout);
    ReplyParser parser(request.method == Method::head);
    bool answered = request.source && send_source(channel, request, parser, in);
    while (!answered) {
        if (!read_more(channel, in, request.timeout)) parser.end_of_stream();
        answered = parser.take_header(in);
    }
    ClientReply reply = parser.reply();
    read_body(channel, request, parser, in, reply);
    return reply;
}

}  // namespace svc::net
