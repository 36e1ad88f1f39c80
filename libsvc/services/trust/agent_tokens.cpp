#include "libsvc/services/trust/agent_tokens.h"

#include <jwt.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t secret_bytes = 64;
constexpr std::chrono::days validity{365};
constexpr std::string_view scheme = "bearer ";
constexpr const char* status_scope = "status";

struct FreeToken {
    void operator()(jwt_t* token) const { jwt_free(token); }
};
using Token = std::unique_ptr<jwt_t, FreeToken>;

struct FreeText {
    void operator()(char* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

std::string load_or_make_secret(const std::filesystem::path& file) {
    if (!std::filesystem::exists(file)) write_file_atomically(file, random_bytes(secret_bytes));
    std::string secret = read_file(file);
    if (secret.size() != secret_bytes)
        throw Error(ErrorCode::internal, "tokens.key is damaged: it holds the secret of instance tokens");
    return secret;
}

const unsigned char* bytes_of(const std::string& secret) {
    return reinterpret_cast<const unsigned char*>(secret.data());
}

[[noreturn]] void refuse_token() {
    throw Error(ErrorCode::forbidden, "Not Authorized");
}

bool has_scope(jwt_t* token, std::string_view wanted) {
    const Text scope(jwt_get_grants_json(token, "scope"));
    if (!scope) return false;
    const Json list = Json::parse(scope.get());
    return list.is_array() && std::ranges::any_of(list.as_array(), [&](const Json& item) {
               return item.is_string() && item.as_string() == wanted;
           });
}

}  // namespace

AgentTokens::AgentTokens(const std::filesystem::path& secret_file, const Clock& clock)
    : secret_(load_or_make_secret(secret_file)), clock_(clock) {}

std::string AgentTokens::issue(std::string_view instance_id) const {
    jwt_t* made = nullptr;
    if (jwt_new(&made) != 0) throw std::bad_alloc();
    const Token token(made);
    const std::int64_t now = to_unix_seconds(clock_.now());
    const Json claims = Json::object({{"sub", instance_id},
                                      {"scope", Json::array({"artifacts", status_scope})},
                                      {"iat", now},
                                      {"exp", now + std::chrono::seconds(validity).count()}});
    if (jwt_add_grants_json(token.get(), claims.dump().c_str()) != 0 ||
        jwt_set_alg(token.get(), JWT_ALG_HS256, bytes_of(secret_), static_cast<int>(secret_.size())) != 0)
        throw Error(ErrorCode::internal, "an instance token cannot be made");
    const Text text(jwt_encode_str(token.get()));
    if (!text) throw Error(ErrorCode::internal, "an instance token cannot be signed");
    return text.get();
}

std::string AgentTokens::check(std::string_view authorization_header) const {
    const std::string_view header = trim(authorization_header);
    if (header.empty()) throw Error(ErrorCode::unauthenticated, "missing token");
    if (!iequals(header.substr(0, scheme.size()), scheme)) refuse_token();
    const std::string text(trim(header.substr(scheme.size())));
    jwt_t* decoded = nullptr;
    if (jwt_decode(&decoded, text.c_str(), bytes_of(secret_), static_cast<int>(secret_.size())) != 0)
        refuse_token();
    const Token token(decoded);
    if (jwt_get_alg(token.get()) != JWT_ALG_HS256) refuse_token();
    if (jwt_get_grant_int(token.get(), "exp") <= to_unix_seconds(clock_.now())) refuse_token();
    const char* const subject = jwt_get_grant(token.get(), "sub");
    if (subject == nullptr || !has_scope(token.get(), status_scope)) refuse_token();
    return subject;
}

// The names of purposes have a colon, which no JWT has: what is derived is no signature of one.
std::string AgentTokens::secret_for(std::string_view purpose) const {
    return hmac_sha256(secret_, "purpose:" + std::string(purpose));
}

}  // namespace svc
