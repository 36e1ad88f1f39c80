#include "tests/support/tcp_relay.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"

namespace svc::test {

namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

FileDescriptor make_socket() {
    return FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

bool connect_to_port(int socket, std::uint16_t port) {
    const sockaddr_in address = loopback(port);
    return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

bool connect_to_path(int socket, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// Empty when nobody listens there.
FileDescriptor connect_to(const Target& server) {
    const bool local = !server.unix_path.empty();
    FileDescriptor made(socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool reached = local ? connect_to_path(made.get(), server.unix_path.string())
                               : connect_to_port(made.get(), server.port);
    return reached ? std::move(made) : FileDescriptor();
}

bool send_all(int to, const char* data, std::size_t size) {
    while (size > 0) {
        const ssize_t sent = send(to, data, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        data += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return true;
}

}  // namespace

TcpRelay::TcpRelay(Target server) : server_(std::move(server)), listener_(make_socket()) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (bind(listener_.get(), any, size) != 0 || listen(listener_.get(), 64) != 0 ||
        getsockname(listener_.get(), any, &size) != 0)
        throw system_error("relay", errno);
    port_ = ntohs(address.sin_port);
    wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    thread_ = std::thread([this] { run(); });
}

TcpRelay::~TcpRelay() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake();
    thread_.join();
}

std::string TcpRelay::endpoint() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

void TcpRelay::wake() const {
    const std::uint64_t one = 1;
    if (write(wake_.get(), &one, sizeof(one)) < 0) throw system_error("relay", errno);
}

void TcpRelay::freeze() {
    std::lock_guard lock(mutex_);
    for (Pair& pair : pairs_) pair.frozen = true;
    wake();
}

void TcpRelay::cut() {
    std::lock_guard lock(mutex_);
    pairs_.clear();
    cut_ = true;
    wake();
}

void TcpRelay::mend() {
    std::lock_guard lock(mutex_);
    cut_ = false;
}

void TcpRelay::lose_answers_to(const std::string& text, std::size_t every) {
    std::lock_guard lock(mutex_);
    text_ = text;
    every_ = every;
    asked_ = 0;
}

void TcpRelay::accept_one() {
    FileDescriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (cut_ || !client) return;
    FileDescriptor server = connect_to(server_);
    if (!server) return;
    pairs_.push_back({std::move(client), std::move(server)});
}

void TcpRelay::pass(Pair& pair, bool from_client) {
    std::array<char, 65536> buffer;
    const int from = from_client ? pair.client.get() : pair.server.get();
    const int to = from_client ? pair.server.get() : pair.client.get();
    const ssize_t count = recv(from, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
        pair.ended = true;
        return;
    }
    const std::string_view data(buffer.data(), static_cast<std::size_t>(count));
    if (from_client && !text_.empty() && data.find(text_) != std::string_view::npos)
        pair.losing = asked_++ % every_ == 0;
    if (!from_client && pair.losing) {
        ++lost_;
        pair.ended = true;
        return;
    }
    pair.ended = !send_all(to, data.data(), data.size());
}

void TcpRelay::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        std::vector<pollfd> waited{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
        std::vector<std::pair<Pair*, bool>> sides;
        for (Pair& pair : pairs_) {
            if (pair.frozen) continue;
            for (const bool from_client : {true, false}) {
                waited.push_back({from_client ? pair.client.get() : pair.server.get(), POLLIN, 0});
                sides.emplace_back(&pair, from_client);
            }
        }
        lock.unlock();
        poll(waited.data(), waited.size(), -1);
        lock.lock();
        if (waited[1].revents != 0) {  // something was changed: what poll has told may be wrong
            std::uint64_t count = 0;
            if (read(wake_.get(), &count, sizeof(count)) > 0) continue;
        }
        for (std::size_t i = 0; i < sides.size(); ++i)
            if (waited[i + 2].revents != 0 && !sides[i].first->ended) pass(*sides[i].first, sides[i].second);
        pairs_.remove_if([](const Pair& pair) { return pair.ended; });
        if (waited[0].revents != 0) accept_one();
    }
}

}  // namespace svc::test
