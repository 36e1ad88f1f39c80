#include "libsvc/net/server/acceptor.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::net {

namespace {

constexpr std::chrono::milliseconds out_of_descriptors_pause{100};
constexpr std::chrono::minutes warning_pause{1};
constexpr int accepted_at_once = 256;

std::string host_of(const sockaddr* address, socklen_t size) {
    char host[NI_MAXHOST] = {};
    if (getnameinfo(address, size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0) return "";
    const std::string text = host;
    return text.starts_with("::ffff:") && text.find('.') != std::string::npos ? text.substr(7) : text;
}

std::shared_ptr<const Peer> describe_peer(int fd, const Peer& prototype, const sockaddr* address,
                                          socklen_t size) {
    auto peer = std::make_shared<Peer>(prototype);
    if (peer->transport == Transport::unix_socket) {
        ucred credentials{};
        socklen_t length = sizeof(credentials);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return nullptr;
        peer->uid = credentials.uid;
        peer->gid = credentials.gid;
        peer->pid = credentials.pid;
    } else {
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        peer->address = host_of(address, size);
    }
    return peer;
}

}  // namespace

void Acceptor::add(FileDescriptor socket, Peer prototype, Taker taker) {
    sockets_.push_back(
        std::make_unique<Socket>(context_, socket.get(), std::move(prototype), std::move(taker)));
    (void)socket.release();
}

void Acceptor::start() {
    for (const auto& socket : sockets_) wait(*socket);
    thread_ = std::jthread([this] {
        pthread_setname_np(pthread_self(), "net-accept");
        context_.run();
    });
}

void Acceptor::stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    sockets_.clear();
}

void Acceptor::wait(Socket& socket) {
    socket.descriptor.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                 [this, &socket](const boost::system::error_code& error) {
                                     if (!error) accept(socket);
                                 });
}

void Acceptor::accept(Socket& socket) {
    for (int i = 0; i < accepted_at_once; ++i) {
        sockaddr_storage address{};
        socklen_t size = sizeof(address);
        auto* plain = reinterpret_cast<sockaddr*>(&address);
        FileDescriptor fd(
            accept4(socket.descriptor.native_handle(), plain, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd) {
            if (errno == EAGAIN || errno == EWOULDBLOCK) break;
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return rest(socket);
        }
        if (auto peer = describe_peer(fd.get(), socket.prototype, plain, size))
            socket.taker(std::move(fd), std::move(peer));
    }
    wait(socket);
}

// Out of descriptors or memory: new connections wait in the kernel's backlog until others have ended.
void Acceptor::rest(Socket& socket) {
    const auto now = std::chrono::steady_clock::now();
    if (!warned_ || now - *warned_ >= warning_pause) {
        log::warning("connections wait", {{"error", system_error("cannot accept", errno).what()}});
        warned_ = now;
    }
    socket.pause.expires_after(out_of_descriptors_pause);
    socket.pause.async_wait([this, &socket](const boost::system::error_code& error) {
        if (!error) accept(socket);
    });
}

}  // namespace svc::net
