#include "tests/bench/load/endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::bench {

namespace {

std::shared_ptr<SSL_CTX> client_context(const std::string& certificate, const std::string& key) {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (!context) throw Error(ErrorCode::internal, "cannot make a TLS context");
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context.get(), 1);
    if (certificate.empty()) return context;
    if (SSL_CTX_use_certificate_file(context.get(), certificate.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1)
        throw Error(ErrorCode::invalid_argument, "certificate " + quoted(certificate) + " cannot be used");
    return context;
}

FileDescriptor connected(const sockaddr* address, socklen_t size, const std::string& url) {
    FileDescriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) throw system_error("cannot make a socket", errno);
    int result = 0;
    do result = ::connect(socket.get(), address, size);
    while (result != 0 && errno == EINTR);
    if (result != 0) throw system_error("cannot connect to " + url, errno);
    const int on = 1;
    if (address->sa_family == AF_INET) setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
    return socket;
}

}  // namespace

Endpoint::Endpoint(const std::string& url, const std::string& certificate, const std::string& key)
    : url_(url) {
    if (url.starts_with("unix:")) {
        path_ = url.substr(5);
        return;
    }
    const auto begin = url.find("://");
    const auto colon = url.rfind(':');
    if (begin == std::string::npos || colon <= begin + 3)
        throw Error(ErrorCode::invalid_argument, "target " + quoted(url) + " is not understood");
    host_ = url.substr(begin + 3, colon - begin - 3);
    std::from_chars(url.data() + colon + 1, url.data() + url.size(), port_);
    if (url.starts_with("https:")) tls_ = client_context(certificate, key);
}

FileDescriptor Endpoint::connect() const {
    if (!path_.empty()) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path_.size() >= sizeof(address.sun_path))
            throw Error(ErrorCode::invalid_argument, "socket path is too long");
        path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
        return connected(reinterpret_cast<const sockaddr*>(&address), sizeof(address), url_);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    if (inet_pton(AF_INET, host_.c_str(), &address.sin_addr) != 1)
        throw Error(ErrorCode::invalid_argument, "target " + quoted(url_) + " needs an IPv4 address");
    return connected(reinterpret_cast<const sockaddr*>(&address), sizeof(address), url_);
}

void Stream::Free::operator()(SSL* ssl) const {
    SSL_free(ssl);
}

Stream::Stream(const Endpoint& endpoint) : socket_(endpoint.connect()) {
    if (endpoint.tls() == nullptr) return;
    ssl_.reset(SSL_new(endpoint.tls()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket_.get()) != 1)
        throw Error(ErrorCode::internal, "cannot make a TLS connection");
    SSL_set_connect_state(ssl_.get());
}

// Of an SSL call, or of a system call where there is no TLS.
Moved Stream::moved(long result) const {
    if (result > 0) return {Progress::done, static_cast<std::size_t>(result)};
    if (!ssl_) {
        const bool later = result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
        return {later ? Progress::want_read : Progress::ended};
    }
    const int error = SSL_get_error(ssl_.get(), static_cast<int>(result));
    if (error == SSL_ERROR_WANT_READ) return {Progress::want_read};
    return {error == SSL_ERROR_WANT_WRITE ? Progress::want_write : Progress::ended};
}

Progress Stream::handshake() {
    if (!ssl_) return Progress::done;
    ERR_clear_error();
    return moved(SSL_do_handshake(ssl_.get())).progress;
}

Moved Stream::read(char* into, std::size_t size) {
    if (!ssl_) return moved(::recv(socket_.get(), into, size, 0));
    ERR_clear_error();
    return moved(SSL_read(ssl_.get(), into, static_cast<int>(size)));
}

Moved Stream::write(const char* data, std::size_t size) {
    if (ssl_) {
        ERR_clear_error();
        return moved(SSL_write(ssl_.get(), data, static_cast<int>(size)));
    }
    Moved result = moved(::send(socket_.get(), data, size, MSG_NOSIGNAL));
    if (result.progress == Progress::want_read) result.progress = Progress::want_write;
    return result;
}

}  // namespace svc::bench
