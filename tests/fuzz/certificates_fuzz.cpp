// Certificates in DER, PEM or base64: what is read can be read again in its other forms, and is the same.
#include <cstdlib>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/net/tls/x509.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::certificates_target {

namespace {

void check_forms(const X509Certificate& certificate) {
    const X509Certificate from_pem = parse_x509(certificate.pem);
    const X509Certificate from_der = parse_x509(certificate.der);
    if (from_pem.der != certificate.der || from_der.pem != certificate.pem) std::abort();
    if (from_pem.fingerprint != certificate.fingerprint || from_der.common_name != certificate.common_name)
        std::abort();
    if (sha256_hex(certificate.der) != certificate.fingerprint) std::abort();
    is_signed_by(certificate.der, certificate.der);
}

}  // namespace

FUZZ_TARGET(certificates)(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        check_forms(parse_x509(text));
    } catch (const Error& e) {
        if (e.code() != ErrorCode::invalid_argument) std::abort();
    }
    is_signed_by(text.substr(0, size / 2), text.substr(size / 2));
    return 0;
}

}  // namespace svc::fuzz::certificates_target
