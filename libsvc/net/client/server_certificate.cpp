#include "libsvc/net/client/server_certificate.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstring>

#include "libsvc/base/file.h"
#include "libsvc/net/tls/openssl.h"

namespace svc {
namespace {

struct AddressFree {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, AddressFree>;

Addresses resolve(const Target& target) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &list);
    if (error != 0) throw Error(ErrorCode::unavailable, target.describe() + ": " + ::gai_strerror(error));
    return Addresses(list);
}

FileDescriptor connect_to(const Target& target, std::chrono::seconds limit) {
    int reason = 0;
    const Addresses addresses = resolve(target);
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
        FileDescriptor socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
        const timeval time{limit.count(), 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
        ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
        if (::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0) return socket;
        reason = errno;
    }
    throw Error(ErrorCode::unavailable, target.describe() + ": " + std::strerror(reason));
}

}  // namespace

ClientCertificate server_certificate(const Target& target, std::chrono::seconds limit) {
    const FileDescriptor socket = connect_to(target, limit);
    const auto context = net::make_context(TLS_client_method());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
    const net::SslPtr ssl(SSL_new(context.get()));
    if (!ssl || SSL_set_fd(ssl.get(), socket.get()) != 1)
        throw net::openssl_error(ErrorCode::internal, "cannot make TLS connection");
    SSL_set_tlsext_host_name(ssl.get(), target.tls_name().c_str());
    if (SSL_connect(ssl.get()) != 1)
        throw net::openssl_error(ErrorCode::unavailable, target.describe() + ": no TLS connection");
    const X509* certificate = SSL_get0_peer_certificate(ssl.get());
    if (certificate == nullptr) throw Error(ErrorCode::unavailable, target.describe() + ": no certificate");
    return net::describe_certificate(certificate);
}

}  // namespace svc
