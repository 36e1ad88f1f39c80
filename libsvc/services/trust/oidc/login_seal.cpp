#include "libsvc/services/trust/oidc/login_seal.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc {

namespace {

constexpr std::size_t max_text = 4096;  // browsers keep no more

[[noreturn]] void refuse() {
    throw Error(ErrorCode::forbidden, "this browser has not begun this login, or too long ago: log in again");
}

PendingLogin parse(std::string_view text) {
    const Json json = Json::parse(base64url_decode(text));
    const JsonFields fields(json);
    return {fields.require_string("id"), from_unix_seconds(fields.require_int("expires")),
            fields.require_string("redirect"), fields.require_string("return")};
}

}  // namespace

std::string LoginSeal::close(const PendingLogin& login) const {
    const Json json = Json::object({{"id", login.id},
                                    {"expires", to_unix_seconds(login.expires_at)},
                                    {"redirect", login.redirect_url},
                                    {"return", login.return_to}});
    const std::string text = base64url_encode(json.dump());
    return text + "." + seal_of(text);
}

PendingLogin LoginSeal::open(std::string_view sealed, Time now) const {
    const auto dot = sealed.find('.');
    if (sealed.size() > max_text || dot == std::string_view::npos) refuse();
    const std::string_view text = sealed.substr(0, dot);
    if (!equal_constant_time(sealed.substr(dot + 1), seal_of(text))) refuse();
    PendingLogin login = parse(text);
    if (now >= login.expires_at) refuse();
    return login;
}

std::string LoginSeal::derived(const char* purpose, const PendingLogin& login) const {
    return base64url_encode(hmac_sha256(key_, std::string(purpose) + ":" + login.id));
}

std::string LoginSeal::seal_of(std::string_view text) const {
    return base64url_encode(hmac_sha256(key_, "seal:" + std::string(text)));
}

}  // namespace svc
