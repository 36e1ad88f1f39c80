#include "libsvc/services/trust/oidc/user_claims.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/oidc.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr std::size_t max_name = 100;

bool is_unverified(const Json& claims, std::string_view name) {
    const Json* const verified = claims.find("email_verified");
    return name == "email" && verified != nullptr && *verified != Json(true) && *verified != Json("true");
}

// The claim of exactly this name, which may have dots; else the path.
const Json* find_claim(const Json& claims, const std::string& name) {
    if (is_unverified(claims, name)) return nullptr;
    if (const Json* const whole = claims.find(name)) return whole;
    const Json* found = &claims;
    for (const std::string& part : split(name, '.'))
        if (found != nullptr) found = found->find(part);
    return found;
}

// A text, a list of texts, or nothing. Parts of other types say nothing.
std::vector<std::string> texts_of(const Json* claim) {
    if (claim == nullptr) return {};
    if (claim->is_string()) return {claim->as_string()};
    std::vector<std::string> texts;
    if (claim->is_array())
        for (const Json& item : claim->as_array())
            if (item.is_string()) texts.push_back(item.as_string());
    return texts;
}

std::string name_of(const Json& claims, const std::string& claim) {
    for (const std::string& candidate : {claim, std::string("sub")}) {
        const Json* const found = find_claim(claims, candidate);
        if (found == nullptr || !found->is_string() || found->as_string().empty()) continue;
        if (found->as_string().size() > max_name || has_control_characters(found->as_string()))
            throw Error(ErrorCode::forbidden, "the claim " + quoted(candidate) + " is no name of a user");
        return found->as_string();
    }
    throw Error(ErrorCode::forbidden, "ID token has neither the claim " + quoted(claim) + " nor sub");
}

}  // namespace

OidcUser user_of(const Json& claims, const ConfigValues& config) {
    OidcUser user;
    user.name = name_of(claims, config.text("oidc.name_claim"));
    const std::string claim = config.text("oidc.role_claim");
    const auto role =
        role_of(parse_role_rules(config.text("oidc.roles")), texts_of(find_claim(claims, claim)));
    if (!role)
        throw Error(ErrorCode::forbidden, "user " + quoted(user.name) +
                                              " has no role here: nothing in the claim " + quoted(claim) +
                                              " is named by oidc.roles");
    user.role = *role;
    return user;
}

}  // namespace svc
