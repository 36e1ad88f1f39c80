// CertificateService: what an asker without trust may have instead: the trust password or a join token.
#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/trust/certificate_implementation.h"

namespace svc {

namespace {

constexpr std::size_t max_tokens = 1000;
constexpr std::size_t max_name = 100;
constexpr std::size_t max_token_text = 8192;
constexpr std::chrono::days max_validity{365};
constexpr std::string_view password_key = "core.trust_password";

[[noreturn]] void refuse_join_token() {
    throw Error(ErrorCode::forbidden, "Not Authorized");
}

// Null for what is no token's text, such as a password.
Json parse_token(std::string_view text) {
    if (text.empty() || text.size() > max_token_text) return {};
    try {
        Json token = Json::parse(base64_decode(text));
        const JsonFields fields(token);
        if (fields.string("id") && fields.string("secret")) return token;
    } catch (const Error&) {
        return {};
    }
    return {};
}

}  // namespace

std::string CertificateService::Implementation::authorise(const CertificateRequest& request,
                                                          std::string_view address, Batch& together) {
    if (!request.join_token.empty()) return use_token(parse_token(request.join_token), address, together);
    const Json token = parse_token(request.trust_password);
    if (!token.is_null()) return use_token(token, address, together);
    check_password(request.trust_password, address);
    return "password";
}

void CertificateService::Implementation::check_password(std::string_view password, std::string_view address) {
    if (!config_.values().is_set(password_key)) throw Error(ErrorCode::forbidden, "No password is set");
    if (password.empty()) throw Error(ErrorCode::forbidden, "Bad password provided");
    const auto attempt = tries_.begin(address);
    if (config_.check_trust_password(password)) return attempt->was_right();
    log::warning("wrong trust password", {{"address", std::string(address)}});
    throw Error(ErrorCode::forbidden, "Bad password provided");
}

// The removal is staged first: what is checked is the very record that it expects.
std::string CertificateService::Implementation::use_token(const Json& token, std::string_view address,
                                                          Batch& together) {
    const auto attempt = tries_.begin(address);
    Batch removal;
    const std::string id = token.is_null() ? "" : JsonFields(token).require_string("id");
    tokens_.stage_remove(removal, id);
    const auto record = tokens_.find(id);
    const bool valid =
        !removal.empty() && record && clock_.now() < record->expires_at &&
        equal_constant_time(sha256_hex(JsonFields(token).require_string("secret")), record->secret_hash);
    if (!valid) {
        log::warning("wrong join token", {{"address", std::string(address)}});
        refuse_join_token();
    }
    attempt->was_right();
    together.append(std::move(removal));
    return "token " + id;
}

IssuedToken CertificateService::Implementation::issue_token(std::string name, Duration validity,
                                                            std::string_view server_fingerprint,
                                                            const std::vector<std::string>& addresses) {
    if (name.empty()) throw Error(ErrorCode::invalid_argument, "name is required");
    if (has_control_characters(name))
        throw Error(ErrorCode::invalid_argument,
                    "argument name is invalid: control characters are not allowed");
    if (name.size() > max_name) throw Error(ErrorCode::invalid_argument, "length of name is invalid");
    if (validity <= Duration::zero() || validity > max_validity)
        throw Error(ErrorCode::invalid_argument, "argument expiry is invalid: up to a year is possible");
    if (tokens_.size() >= max_tokens) throw Error(ErrorCode::exhausted, "too many join tokens");
    const std::string secret = ids_.secret();
    const Time now = clock_.now();
    const JoinToken token{ids_.object_id(), std::move(name), sha256_hex(secret), now, now + validity};
    tokens_.create(token);
    const Json text = Json::object({{"id", token.id},
                                    {"secret", secret},
                                    {"fingerprint", server_fingerprint},
                                    {"addresses", JsonArray(addresses.begin(), addresses.end())}});
    log::info("join token issued", {{"token", token.id}, {"name", token.name}});
    return {token, base64_encode(text.dump())};
}

std::vector<std::shared_ptr<const JoinToken>> CertificateService::Implementation::tokens() const {
    auto all = tokens_.list();
    std::erase_if(all, [now = clock_.now()](const auto& token) { return token->expires_at <= now; });
    return all;
}

void CertificateService::Implementation::revoke_token(std::string_view id) {
    const auto token = tokens_.get(id);
    tokens_.remove(token->id);
    log::info("join token revoked", {{"token", token->id}});
}

void CertificateService::Implementation::expire_tokens() {
    for (const auto& token : tokens_.list())
        if (token->expires_at <= clock_.now()) tokens_.remove(token->id);
}

}  // namespace svc
