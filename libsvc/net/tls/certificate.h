#pragma once
// What a peer's certificate says, as plain values.
#include <string>

#include "libsvc/base/clock.h"

namespace svc {

// The certificate that the other end of a TLS connection presented. It proves nothing until its fingerprint
// is compared.
struct ClientCertificate {
    std::string fingerprint;  // SHA-256 of the DER, lower-case hex
    std::string der;
    std::string common_name;
    Time not_before{}, not_after{};
};

}  // namespace svc
