#include "server/gateway/authenticate.h"

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::gateway {

namespace {

struct Authorization {
    std::string_view scheme, value;
};

Authorization parse_authorization(std::string_view header) {
    header = trim(header);
    const std::size_t space = header.find(' ');
    if (space == std::string_view::npos) return {header, {}};
    return {header.substr(0, space), trim(header.substr(space + 1))};
}

}  // namespace

// Several Authorization headers are no token: a proxy in front of the gateway may have checked another one
// than the gateway would.
std::optional<std::string> Authenticator::account_token(const Request& request) {
    constexpr std::string_view root = "root=";
    const auto is_authorization = [](const auto& header) { return iequals(header.first, "Authorization"); };
    if (std::count_if(request.headers.begin(), request.headers.end(), is_authorization) > 1) return "";
    if (const std::string* header = request.headers.find("Authorization")) {
        const Authorization authorization = parse_authorization(*header);
        if (iequals(authorization.scheme, "macaroon"))
            return authorization.value.starts_with(root)
                       ? std::string(authorization.value.substr(root.size()))
                       : std::string();
    }
    const auto found = request.query.find("api_token");
    return found == request.query.end() ? std::nullopt : std::optional(found->second);
}

Account Authenticator::account(const Request& request) const {
    const auto token = account_token(request);
    if (!token) throw Error(ErrorCode::unauthenticated, "Authorization failed");
    return accounts_.authenticate(*token);
}

SessionOwner Authenticator::owner(const Request& request) const {
    return is_local(request) ? "" : account_key(account(request));
}

SessionOwner Authenticator::viewer(const Request& request) const {
    if (is_local(request)) return "";
    const Account asking = account(request);
    return asking.admin ? "" : account_key(asking);
}

SessionOwner Authenticator::owner_of_new(const Request& request, const std::string& account) const {
    SessionOwner asking = owner(request);
    if (account.empty() || account == account_name(asking)) return asking;
    if (!viewer(request).empty())
        throw Error(ErrorCode::forbidden, "only administrators make sessions for other accounts");
    return account_key(accounts_.get(account));
}

void Authenticator::check(Access access, const Request& request) const {
    if (access == Access::everyone) return;
    if (access == Access::admin && !is_local(request)) throw Error(ErrorCode::not_found, "not found");
    owner(request);
}

BasicCredentials::BasicCredentials(std::string_view user, std::string_view password, const Clock& clock)
    : digest_(sha256_hex(std::string(user) + ":" + std::string(password))), tries_(clock) {}

bool BasicCredentials::match(const Request& request) {
    const std::string header = request.headers.get("Authorization");
    const Authorization authorization = parse_authorization(header);
    if (!iequals(authorization.scheme, "basic")) return false;
    const auto attempt = tries_.begin(request.peer->address, TryLimit::Secret::password);
    try {
        if (!equal_constant_time(sha256_hex(base64_decode(authorization.value)), digest_)) return false;
    } catch (const Error&) {
        return false;
    }
    attempt->was_right();
    return true;
}

}  // namespace svc::gateway
