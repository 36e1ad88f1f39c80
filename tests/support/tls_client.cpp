#include "tests/support/tls_client.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <stdexcept>

namespace svc::test {

namespace {

constexpr timeval tls_client_patience{60, 0};

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    return address;
}

}  // namespace

FileDescriptor connect_tcp(const Target& target, const std::string& from) {
    FileDescriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = address_of(target.host, static_cast<std::uint16_t>(target.port));
    const sockaddr_in own = address_of(from, 0);
    if (!from.empty() && bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(own)) != 0)
        throw std::runtime_error("cannot connect from " + from);
    if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw std::runtime_error("cannot connect");
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &tls_client_patience, sizeof(tls_client_patience));
    return fd;
}

class TlsClient::State {
  public:
    State(const Target& target, int version)
        : fd(connect_tcp(target)),
          context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
          ssl(SSL_new(context.get()), SSL_free) {
        SSL_set_min_proto_version(ssl.get(), version);
        SSL_set_max_proto_version(ssl.get(), version);
        SSL_set_fd(ssl.get(), fd.get());
        if (SSL_connect(ssl.get()) != 1) throw std::runtime_error("no TLS handshake");
    }

    FileDescriptor fd;
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context;
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl;
};

TlsClient::TlsClient(const Target& target, TlsVersion version)
    : state_(
          std::make_unique<State>(target, version == TlsVersion::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION)) {}

TlsClient::~TlsClient() = default;

void TlsClient::send(const std::string& text) {
    if (SSL_write(state_->ssl.get(), text.data(), static_cast<int>(text.size())) <= 0)
        throw std::runtime_error("cannot send");
}

void TlsClient::say_goodbye() {
    if (SSL_shutdown(state_->ssl.get()) != 0) throw std::runtime_error("the server has said goodbye first");
}

void TlsClient::leave() {
    state_->fd.reset();
}

std::string TlsClient::read_to_end() {
    std::string all;
    char buffer[4096];
    for (int count = 0; (count = SSL_read(state_->ssl.get(), buffer, sizeof(buffer))) > 0;)
        all.append(buffer, static_cast<std::size_t>(count));
    return all;
}

}  // namespace svc::test
