#pragma once
// Trusted client certificates and join tokens (specification: Certificate, Authentication;
// docs/trust.md). Plain values.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/model/cluster/role.h"

namespace svc {

struct Certificate {
    std::string fingerprint;  // SHA-256 of the DER, lower-case hex
    std::string pem;
    std::string common_name;
    Time not_before{}, not_after{};
    bool is_authority = false;  // certificates that it has signed are trusted too
    Time added_at{};
    Role role = Role::admin;  // extension; of an authority: that of the certificates that it has signed
};

Json to_json(const Certificate& certificate);
Json certificate_to_store(const Certificate& certificate);
Certificate certificate_from_store(const Json& stored);

// Body of POST /1.0/certificates. `trust-password` and `trust_password` are the same.
struct CertificateRequest {
    std::string certificate;  // base64 of the DER, or PEM text; "": the one of the TLS connection
    std::string trust_password;
    std::string join_token;         // extension: instead of the password
    std::optional<Role> role = {};  // extension; absent: the highest one that the client may give
    static CertificateRequest from_json(const Json& body);
};

// A one-use invitation (extension). Only the hash of its secret is kept.
struct JoinToken {
    std::string id;
    std::string name;         // for whom it is; free text
    std::string secret_hash;  // SHA-256 of the secret
    Time created_at{}, expires_at{};
    Role role = Role::admin;  // of the certificate that it adds
};
Json to_json(const JoinToken& token);  // id, name, role, created_at, expires_at
Json join_token_to_store(const JoinToken& token);
JoinToken join_token_from_store(const Json& stored);

}  // namespace svc
