#include "libsvc/services/trust/join_token_store.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/trust/log_for_admins.h"

namespace svc {

namespace {

constexpr std::size_t max_tokens = 1000;
constexpr std::size_t max_name = 100;
constexpr std::size_t max_token_text = 8192;
constexpr std::chrono::days max_validity{365};
}  // namespace

Json JoinTokenStore::parse(std::string_view text) {
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

// The removal is staged before the record is read: it expects the very record that is checked.
std::shared_ptr<const JoinToken> JoinTokenStore::use(const Json& token, Batch& together) {
    if (token.is_null()) return {};
    Batch removal;
    const JsonFields fields(token);
    const std::string id = fields.require_string("id");
    tokens_.stage_remove(removal, id);
    const auto record = tokens_.find(id);
    const bool valid = !removal.empty() && record && clock_.now() < record->expires_at &&
                       equal_constant_time(sha256_hex(fields.require_string("secret")), record->secret_hash);
    if (!valid) return {};
    together.append(std::move(removal));
    return record;
}

IssuedToken JoinTokenStore::issue(std::string name, Role role, Duration validity,
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
    const JoinToken token{ids_.object_id(), std::move(name), sha256_hex(secret), now, now + validity, role};
    tokens_.create(token);
    const Json text = Json::object({{"id", token.id},
                                    {"secret", secret},
                                    {"fingerprint", server_fingerprint},
                                    {"addresses", JsonArray(addresses.begin(), addresses.end())}});
    log::info("join token issued", {{"token", token.id}, {"name", token.name}, for_admins});
    return {token, base64_encode(text.dump())};
}

std::vector<std::shared_ptr<const JoinToken>> JoinTokenStore::list() const {
    auto all = tokens_.list();
    std::erase_if(all, [now = clock_.now()](const auto& token) { return token->expires_at <= now; });
    return all;
}

void JoinTokenStore::revoke(std::string_view id) {
    const auto token = tokens_.get(id);
    tokens_.remove(token->id);
    log::info("join token revoked", {{"token", token->id}, for_admins});
}

void JoinTokenStore::remove_expired() {
    for (const auto& token : tokens_.list())
        if (token->expires_at <= clock_.now()) tokens_.remove(token->id);
}

}  // namespace svc
