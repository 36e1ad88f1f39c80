#include "libsvc/net/socket/byte_stream.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "libsvc/base/strings.h"
#include "libsvc/net/tls/openssl.h"

namespace svc::net {

namespace {

// A pinned certificate is trusted by its fingerprint alone: its chain, names and dates are not checked.
int verify_pinned(X509_STORE_CTX* store, void* fingerprint) {
    const X509* certificate = X509_STORE_CTX_get0_cert(store);
    try {
        if (certificate != nullptr &&
            iequals(fingerprint_of(certificate), *static_cast<const std::string*>(fingerprint)))
            return 1;
    } catch (const std::exception&) {
        // no exception may pass through OpenSSL
    }
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
}

void expect_host(SSL* ssl, const std::string& host) {
    unsigned char address[sizeof(in6_addr)];
    const bool numeric =
        inet_pton(AF_INET, host.c_str(), address) == 1 || inet_pton(AF_INET6, host.c_str(), address) == 1;
    if (numeric) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
        return;
    }
    SSL_set1_host(ssl, host.c_str());
    SSL_set_tlsext_host_name(ssl, host.c_str());
}

void trust_authorities(SSL_CTX* context, const std::string& pem) {
    const BioPtr text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    int count = 0;
    while (const X509Ptr certificate{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)})
        count += X509_STORE_add_cert(store, certificate.get());
    ERR_clear_error();
    if (count == 0) throw Error(ErrorCode::invalid_argument, "cannot read the trusted authorities");
}

void trust_authorities(SSL_CTX* context, const std::filesystem::path& file) {
    if (file.empty())
        SSL_CTX_set_default_verify_paths(context);
    else if (SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) != 1)
        throw openssl_error(ErrorCode::invalid_argument,
                            "cannot read the trusted authorities in '" + file.filename().string() + "'");
}

// Each connection has a context of its own: clients make few connections, and each may have another identity.
SslPtr make_client_ssl(const Target& target) {
    const auto context = make_context(TLS_client_method());
    if (target.identity) use_key_pair(context.get(), *target.identity);
    const bool anybody = target.unverified && target.server_fingerprint.empty();
    SSL_CTX_set_verify(context.get(), anybody ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
    if (target.server_fingerprint.empty() && !target.authorities_text.empty())
        trust_authorities(context.get(), target.authorities_text);
    else if (target.server_fingerprint.empty())
        trust_authorities(context.get(), target.authorities);
    else
        SSL_CTX_set_cert_verify_callback(context.get(), verify_pinned,
                                         const_cast<std::string*>(&target.server_fingerprint));
    SslPtr ssl(SSL_new(context.get()));
    if (!ssl) throw openssl_error(ErrorCode::internal, "cannot make TLS connection");
    expect_host(ssl.get(), target.tls_name());
    SSL_set_connect_state(ssl.get());
    return ssl;
}

IoResult socket_result(ssize_t result, IoState would_block) {
    if (result > 0) return {IoState::done, static_cast<std::size_t>(result)};
    if (result == 0) return {IoState::ended, 0};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {would_block, 0};
    return {IoState::failed, 0};
}

int limit_to_int(std::size_t size) {
    return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
}

}  // namespace

void ByteStream::SslFree::operator()(ssl_st* ssl) const {
    SSL_free(ssl);
}

ByteStream::ByteStream(int socket, const TlsContext& server_side)
    : socket_(socket), server_side_(server_side.state()) {
    ssl_.reset(SSL_new(server_side_->context.get()));
    if (!ssl_ || SSL_set_fd(ssl_.get(), socket) != 1)
        throw openssl_error(ErrorCode::internal, "cannot make TLS connection");
    SSL_set_accept_state(ssl_.get());
}

ByteStream::ByteStream(int socket, const Target& client_side) : socket_(socket) {
    if (!client_side.tls || !client_side.unix_path.empty()) return;
    ssl_.reset(make_client_ssl(client_side).release());
    if (SSL_set_fd(ssl_.get(), socket) != 1)
        throw openssl_error(ErrorCode::internal, "cannot make TLS connection");
}

ByteStream::~ByteStream() = default;

IoResult ByteStream::ssl_result(int result) {
    if (result > 0) return {IoState::done, static_cast<std::size_t>(result)};
    const int error = SSL_get_error(ssl_.get(), result);
    if (error == SSL_ERROR_WANT_READ) return {IoState::want_read, 0};
    if (error == SSL_ERROR_WANT_WRITE) return {IoState::want_write, 0};
    if (error == SSL_ERROR_ZERO_RETURN) return {IoState::ended, 0};
    if (const char* reason = ERR_reason_error_string(ERR_peek_last_error())) failure_ = reason;
    return {IoState::failed, 0};
}

IoResult ByteStream::handshake() {
    ERR_clear_error();
    return ssl_result(SSL_do_handshake(ssl_.get()));
}

IoResult ByteStream::read(char* into, std::size_t size) {
    if (ssl_) {
        ERR_clear_error();
        return ssl_result(SSL_read(ssl_.get(), into, limit_to_int(size)));
    }
    ssize_t result = 0;
    do result = recv(socket_, into, size, MSG_DONTWAIT);
    while (result < 0 && errno == EINTR);
    return socket_result(result, IoState::want_read);
}

IoResult ByteStream::write(const char* data, std::size_t size, bool more_follows) {
    if (ssl_) {
        ERR_clear_error();
        return ssl_result(SSL_write(ssl_.get(), data, limit_to_int(size)));
    }
    const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more_follows ? MSG_MORE : 0);
    ssize_t result = 0;
    do result = send(socket_, data, size, flags);
    while (result < 0 && errno == EINTR);
    return socket_result(result, IoState::want_write);
}

void ByteStream::shut_down() {
    if (ssl_ && SSL_is_init_finished(ssl_.get())) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
    }
    ::shutdown(socket_, SHUT_WR);
}

std::optional<ClientCertificate> ByteStream::peer_certificate() const {
    const X509* certificate = ssl_ ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
    if (certificate == nullptr) return std::nullopt;
    return describe_certificate(certificate);
}

bool ByteStream::refused_peer() const {
    return ssl_ && SSL_get_verify_result(ssl_.get()) != X509_V_OK;
}

}  // namespace svc::net
