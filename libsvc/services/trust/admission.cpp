#include "libsvc/services/trust/admission.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/trust/log_for_admins.h"

namespace svc {

namespace {

constexpr std::string_view trust_password_key = "core.trust_password";

}  // namespace

Admitted Admission::authorise(const CertificateRequest& request, std::string_view address, bool from_instance,
                              Batch& together) {
    if (!request.join_token.empty())
        return use_token(JoinTokenStore::parse(request.join_token), address, together);
    const Json token = JoinTokenStore::parse(request.trust_password);
    if (!token.is_null()) return use_token(token, address, together);
    check_password(request.trust_password, address, from_instance);
    return {"password", Role::admin};
}

void Admission::check_password(std::string_view password, std::string_view address, bool from_instance) {
    if (from_instance) throw Error(ErrorCode::forbidden, "no password is taken from an instance");
    if (!config_.values().is_set(trust_password_key)) throw Error(ErrorCode::forbidden, "No password is set");
    if (password.empty()) throw Error(ErrorCode::forbidden, "Bad password provided");
    const auto attempt = tries_.begin(address, TryLimit::Secret::password);
    if (config_.check_trust_password(password)) return attempt->was_right();
    log::warning("wrong trust password", {{"address", std::string(address)}, for_admins});
    throw Error(ErrorCode::forbidden, "Bad password provided");
}

Admitted Admission::use_token(const Json& token, std::string_view address, Batch& together) {
    const auto attempt = tries_.begin(address, TryLimit::Secret::token);
    const auto used = tokens_.use(token, together);
    if (!used) {
        log::warning("wrong join token", {{"address", std::string(address)}, for_admins});
        throw Error(ErrorCode::forbidden, "Not Authorized");
    }
    attempt->was_right();
    return {"token " + used->id, used->role};
}

}  // namespace svc
