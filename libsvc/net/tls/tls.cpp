#include "libsvc/net/tls/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "libsvc/base/digest.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/printable.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/tls/openssl.h"

namespace svc {

namespace net {

Error openssl_error(ErrorCode code, std::string_view what) {
    const unsigned long number = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = number != 0 ? ERR_reason_error_string(number) : nullptr;
    return Error(code, std::string(what) + (reason != nullptr ? ": " + std::string(reason) : ""));
}

std::string der_of(const X509* certificate) {
    unsigned char* data = nullptr;
    const int size = i2d_X509(certificate, &data);
    if (size < 0) throw openssl_error(ErrorCode::invalid_argument, "cannot encode certificate");
    std::string der(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    OPENSSL_free(data);
    return der;
}

std::string fingerprint_of(const X509* certificate) {
    return sha256_hex(der_of(certificate));
}

namespace {

Time to_time(const ASN1_TIME* time) {
    constexpr std::int64_t limit =
        9'000'000'000;  // in the year 2255: later ones ("never") do not fit nanoseconds
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1)
        throw openssl_error(ErrorCode::invalid_argument, "certificate has a malformed validity");
    return from_unix_seconds(std::clamp<std::int64_t>(timegm(&parts), -limit, limit));
}

// In UTF-8, whatever encoding the certificate has; "" for none, and for one that cannot be converted.
std::string common_name_of(const X509* certificate) {
    constexpr int longest = 255;
    const X509_NAME* const subject = X509_get_subject_name(certificate);
    const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    if (at < 0) return "";
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) {
        ERR_clear_error();  // of this thread's queue: the next call must not take it for its own
        return "";
    }
    const std::unique_ptr<unsigned char, void (*)(unsigned char*)> kept(
        text, [](unsigned char* p) { OPENSSL_free(p); });
    return plain_text({reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)}, longest);
}

int accept_any_certificate(X509_STORE_CTX*, void*) {
    return 1;  // whether it is trusted is decided per request, by its fingerprint
}

}  // namespace

ClientCertificate describe_certificate(const X509* certificate) {
    ClientCertificate result;
    result.der = der_of(certificate);
    result.fingerprint = sha256_hex(result.der);
    result.common_name = common_name_of(certificate);
    result.not_before = to_time(X509_get0_notBefore(certificate));
    result.not_after = to_time(X509_get0_notAfter(certificate));
    return result;
}

ContextPtr make_context(const SSL_METHOD* method) {
    ContextPtr context(SSL_CTX_new(method));
    if (!context) throw openssl_error(ErrorCode::internal, "cannot make TLS context");
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(context.get(),
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    // Without read-ahead each record is read with two system calls.
    SSL_CTX_set_read_ahead(context.get(), 1);
    return context;
}

void use_key_pair(SSL_CTX* context, const KeyPair& files) {
    if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
        throw openssl_error(ErrorCode::invalid_argument, "cannot load certificate");
    if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
        throw openssl_error(ErrorCode::invalid_argument, "cannot load private key");
    if (SSL_CTX_check_private_key(context) != 1)
        throw openssl_error(ErrorCode::invalid_argument, "private key does not belong to certificate");
}

}  // namespace net

namespace {

net::X509Ptr read_certificate(std::string_view text) {
    net::X509Ptr certificate;
    if (text.find("-----BEGIN") != std::string_view::npos) {
        const net::BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
        certificate.reset(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    } else {
        auto data = reinterpret_cast<const unsigned char*>(text.data());
        const auto* end = data + text.size();
        certificate.reset(d2i_X509(nullptr, &data, static_cast<long>(text.size())));
        if (data != end) certificate.reset();
    }
    if (!certificate) throw net::openssl_error(ErrorCode::invalid_argument, "certificate is malformed");
    return certificate;
}

}  // namespace

ClientCertificate parse_certificate(std::string_view pem_or_der) {
    if (pem_or_der.size() > (1U << 20)) throw Error(ErrorCode::invalid_argument, "certificate is too long");
    return net::describe_certificate(read_certificate(pem_or_der).get());
}

std::string to_pem(const ClientCertificate& certificate) {
    const auto parsed = read_certificate(certificate.der);
    const net::BioPtr bio(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(bio.get(), parsed.get()) != 1)
        throw net::openssl_error(ErrorCode::internal, "cannot encode certificate");
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
}

struct TlsContext::Holder {
    Guarded<std::shared_ptr<const State>> state;
    std::shared_ptr<const net::NamedContexts> named;
};

namespace {

// Every cipher of TLS 1.3 is like these: a new key for each connection, and encryption that authenticates.
constexpr const char* tls12_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* key_exchange_groups = "X25519:P-256:P-384";

net::ContextPtr make_server_context(const KeyPair& files, TlsVersion least) {
    auto context = net::make_context(TLS_server_method());
    if (SSL_CTX_set_cipher_list(context.get(), tls12_ciphers) != 1 ||
        SSL_CTX_set1_groups_list(context.get(), key_exchange_groups) != 1)
        throw net::openssl_error(ErrorCode::internal, "cannot choose TLS ciphers");
    if (least == TlsVersion::tls13) SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
    with_context(files.certificate.string() + " with " + files.key.filename().string(),
                 [&] { net::use_key_pair(context.get(), files); });
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context.get(), net::accept_any_certificate, nullptr);
    // One ticket is enough to resume a session; making a second one takes a seventh of the time of a
    // handshake.
    SSL_CTX_set_num_tickets(context.get(), 1);
    // Without it OpenSSL refuses to resume sessions whose client certificate it asked for.
    static constexpr unsigned char session_id[] = "svc";
    SSL_CTX_set_session_id_context(context.get(), session_id, sizeof(session_id) - 1);
    return context;
}

std::string fingerprint_in(const net::ContextPtr& context) {
    return net::fingerprint_of(SSL_CTX_get0_certificate(context.get()));
}

// Called by OpenSSL when the client has named the server it asks for.
int choose_identity(SSL* ssl, int*, void* named) {
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) return SSL_TLSEXT_ERR_NOACK;
    try {
        const auto& contexts = *static_cast<const net::NamedContexts*>(named);
        const auto found = contexts.find(to_lower(name));
        if (found == contexts.end()) return SSL_TLSEXT_ERR_NOACK;
        return SSL_set_SSL_CTX(ssl, found->second.get()) ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
    } catch (const std::exception&) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;  // no exception may pass through OpenSSL
    }
}

}  // namespace

TlsContext::TlsContext(KeyPair files, TlsVersion least, const std::vector<NamedIdentity>& named)
    : files_(std::move(files)), least_(least), holder_(std::make_unique<Holder>()) {
    auto contexts = std::make_shared<net::NamedContexts>();
    for (const auto& [name, own_files] : named)
        contexts->emplace(to_lower(name), make_server_context(own_files, least));
    holder_->named = std::move(contexts);
    reload();
}

TlsContext::~TlsContext() = default;

void TlsContext::reload() {
    auto state = std::make_shared<State>();
    state->context = make_server_context(files_, least_);
    state->fingerprint = fingerprint_in(state->context);
    state->named = holder_->named;
    SSL_CTX_set_tlsext_servername_callback(state->context.get(), choose_identity);
    SSL_CTX_set_tlsext_servername_arg(state->context.get(),
                                      const_cast<net::NamedContexts*>(state->named.get()));
    holder_->state.with([&](auto& current) { current = std::move(state); });
}

std::string TlsContext::fingerprint() const {
    return state()->fingerprint;
}

std::string TlsContext::fingerprint(std::string_view name) const {
    const auto found = holder_->named->find(to_lower(name));
    if (found == holder_->named->end())
        throw Error(ErrorCode::not_found, "TLS identity " + quoted(name) + " not found");
    return fingerprint_in(found->second);
}

std::shared_ptr<const TlsContext::State> TlsContext::state() const {
    return holder_->state.with([](const auto& current) { return current; });
}

}  // namespace svc
