#pragma once
// X.509 certificates as plain values, for the services that decide which ones are trusted.
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

struct X509Certificate {
    std::string der;
    std::string pem;          // with header and footer lines
    std::string fingerprint;  // SHA-256 of the DER, lower-case hex
    std::string common_name;  // of the subject; "" when it has none
    Time not_before{}, not_after{};
    bool is_authority = false;  // says CA:TRUE, and may sign certificates where it limits its key's use
};

// Reads DER, PEM text, or the base64 of the DER (with or without line breaks). Throws invalid_argument for
// what is no certificate, has anything behind it, or has a public key that cannot be read.
X509Certificate parse_x509(std::string_view text);

// True when the authority's key has signed the certificate and names, key identifiers, basic constraints, key
// usage and the strength of the digest agree with that, and the certificate may be a TLS client's. Says
// nothing about dates. False also for what cannot be read.
bool is_signed_by(std::string_view der, std::string_view authority_der);

}  // namespace svc
