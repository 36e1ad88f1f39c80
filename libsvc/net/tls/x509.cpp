#include "libsvc/net/tls/x509.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include "libsvc/base/digest.h"
#include "libsvc/net/tls/openssl.h"

namespace svc {

namespace {

constexpr std::size_t max_text = std::size_t{1} << 20U;
constexpr int min_security_bits = 80;  // SHA-1 and MD5 have less

[[noreturn]] void throw_malformed() {
    ERR_clear_error();
    throw Error(ErrorCode::invalid_argument, "certificate is malformed");
}

net::X509Ptr from_der(std::string_view der) {
    auto data = reinterpret_cast<const unsigned char*>(der.data());
    const auto* end = data + der.size();
    net::X509Ptr certificate(d2i_X509(nullptr, &data, static_cast<long>(der.size())));
    if (data != end) certificate.reset();
    ERR_clear_error();
    return certificate;
}

net::X509Ptr from_pem(std::string_view text) {
    const net::BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    net::X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    ERR_clear_error();
    return certificate;
}

std::string without_base64(std::string_view text) {
    try {
        return base64_decode(text);
    } catch (const Error&) {
        throw_malformed();
    }
}

net::X509Ptr from_text(std::string_view text) {
    if (text.find("-----BEGIN") != std::string_view::npos) return from_pem(text);
    if (text.starts_with(
            '\x30'))  // a DER sequence; also the digit 0, which no certificate's base64 begins with
        if (auto certificate = from_der(text)) return certificate;
    return from_der(without_base64(text));
}

std::string pem_of(const X509* certificate) {
    const net::BioPtr bio(BIO_new(BIO_s_mem()));
    if (!bio || PEM_write_bio_X509(bio.get(), certificate) != 1)
        throw net::openssl_error(ErrorCode::internal, "cannot encode certificate");
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

bool may_sign(X509* certificate) {
    constexpr int by_basic_constraints = 1;  // what else X509_check_ca() takes for one are old guesses
    return X509_check_ca(certificate) == by_basic_constraints;
}

bool has_strong_signature(X509* certificate) {
    int bits = 0;
    return X509_get_signature_info(certificate, nullptr, nullptr, &bits, nullptr) == 1 &&
           bits >= min_security_bits;
}

}  // namespace

X509Certificate parse_x509(std::string_view text) {
    if (text.size() > max_text) throw_malformed();
    const auto certificate = from_text(text);
    if (!certificate) throw_malformed();
    if (X509_get0_pubkey(certificate.get()) == nullptr) {
        ERR_clear_error();
        throw Error(ErrorCode::invalid_argument, "certificate has a public key that cannot be read");
    }
    ClientCertificate described = net::describe_certificate(certificate.get());
    X509Certificate result;
    result.der = std::move(described.der);
    result.pem = pem_of(certificate.get());
    result.fingerprint = std::move(described.fingerprint);
    result.common_name = std::move(described.common_name);
    result.not_before = described.not_before;
    result.not_after = described.not_after;
    result.is_authority = may_sign(certificate.get());
    ERR_clear_error();
    return result;
}

bool is_signed_by(std::string_view der, std::string_view authority_der) {
    const auto certificate = from_der(der);
    const auto authority = from_der(authority_der);
    if (!certificate || !authority) return false;
    const bool matches = may_sign(authority.get()) &&
                         X509_check_issued(authority.get(), certificate.get()) == X509_V_OK &&
                         X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0) == 1 &&
                         has_strong_signature(certificate.get()) &&
                         X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
    ERR_clear_error();
    return matches;
}

}  // namespace svc
