#pragma once
// Certificates of every kind: authorities, what they sign, expired ones, weak ones.
#include <filesystem>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/net/tls/tls.h"

namespace svc::test {

struct MadeCertificate {
    std::string der, pem, key_pem;
    std::string fingerprint;
    // The two files a TLS client or server takes.
    KeyPair write_to(const std::filesystem::path& directory, const std::string& name) const;
};

struct CertificatePlan {
    std::string name{};  // common name
    Time from = from_rfc3339("2020-01-01T00:00:00Z"), until = from_rfc3339("2040-01-01T00:00:00Z");
    bool authority = false;
    std::string key_usage{};                  // OpenSSL's words; "": not limited
    std::string extended_usage{};             // the same
    std::string alternative_names{};          // "IP:127.0.0.1,DNS:host"; "": none
    bool sha1 = false;                        // a digest nobody should take any more
    const MadeCertificate* issuer = nullptr;  // null: signs itself
};

MadeCertificate make_certificate(const CertificatePlan& plan);
// Whether a client that verifies names takes the certificate for this host name or address.
bool certificate_names(const std::string& pem, const std::string& host);

}  // namespace svc::test
