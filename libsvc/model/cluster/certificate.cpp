#include "libsvc/model/cluster/certificate.h"

#include "libsvc/base/error.h"

namespace svc {

namespace {

// Programs without roles would take every certificate for one of the role admin. A record that they
// understand keeps its number, so that they can come back.
constexpr int certificate_schema = 1;
constexpr int schema_of_roles = 4;

int schema_of(Role role) {
    return role == Role::admin ? certificate_schema : schema_of_roles;
}

// Records of programs without roles have none.
Role role_in(const JsonFields& fields) {
    const auto role = fields.string("role");
    return role ? parse_role(*role) : Role::admin;
}

}  // namespace

Json to_json(const Certificate& certificate) {
    return Json::object({{"certificate", certificate.pem},
                         {"fingerprint", certificate.fingerprint},
                         {"role", to_text(certificate.role)}});
}

Json certificate_to_store(const Certificate& certificate) {
    return Json::object({{"schema", schema_of(certificate.role)},
                         {"fingerprint", certificate.fingerprint},
                         {"pem", certificate.pem},
                         {"common_name", certificate.common_name},
                         {"not_before", to_rfc3339(certificate.not_before)},
                         {"not_after", to_rfc3339(certificate.not_after)},
                         {"is_authority", certificate.is_authority},
                         {"added_at", to_rfc3339(certificate.added_at)},
                         {"role", to_text(certificate.role)}});
}

Certificate certificate_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Certificate certificate;
    certificate.fingerprint = fields.require_string("fingerprint");
    certificate.pem = fields.require_string("pem");
    certificate.common_name = fields.string("common_name").value_or("");
    certificate.not_before = from_rfc3339(fields.require_string("not_before"));
    certificate.not_after = from_rfc3339(fields.require_string("not_after"));
    certificate.is_authority = fields.boolean("is_authority").value_or(false);
    certificate.added_at = from_rfc3339(fields.require_string("added_at"));
    certificate.role = role_in(fields);
    return certificate;
}

CertificateRequest CertificateRequest::from_json(const Json& body) {
    const JsonFields fields(body);
    CertificateRequest request;
    request.certificate = fields.string("certificate").value_or("");
    request.trust_password = fields.string("trust-password|trust_password").value_or("");
    request.join_token = fields.string("join_token|join-token").value_or("");
    if (const auto role = fields.string("role")) request.role = parse_role(*role);
    return request;
}

Json to_json(const JoinToken& token) {
    return Json::object({{"id", token.id},
                         {"name", token.name},
                         {"role", to_text(token.role)},
                         {"created_at", to_unix_seconds(token.created_at)},
                         {"expires_at", to_unix_seconds(token.expires_at)}});
}

Json join_token_to_store(const JoinToken& token) {
    return Json::object({{"schema", schema_of(token.role)},
                         {"id", token.id},
                         {"name", token.name},
                         {"secret_hash", token.secret_hash},
                         {"role", to_text(token.role)},
                         {"created_at", to_rfc3339(token.created_at)},
                         {"expires_at", to_rfc3339(token.expires_at)}});
}

JoinToken join_token_from_store(const Json& stored) {
    const JsonFields fields(stored);
    JoinToken token;
    token.id = fields.require_string("id");
    token.name = fields.string("name").value_or("");
    token.secret_hash = fields.require_string("secret_hash");
    token.role = role_in(fields);
    token.created_at = from_rfc3339(fields.require_string("created_at"));
    token.expires_at = from_rfc3339(fields.require_string("expires_at"));
    return token;
}

}  // namespace svc
