#include "libsvc/services/trust/trusted_authorities.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/tls/x509.h"

namespace svc {

namespace {

constexpr std::size_t max_known = 4096;

}  // namespace

TrustedAuthorities::TrustedAuthorities(const std::vector<std::shared_ptr<const Certificate>>& certificates) {
    for (const auto& certificate : certificates) {
        if (!certificate->is_authority) continue;
        try {
            authorities_.push_back({certificate, parse_x509(certificate->pem).der});
        } catch (const Error& e) {
            log::error("trusted authority cannot be read and is not trusted",
                       {{"certificate", certificate->fingerprint}, {"error", e.what()}});
        }
    }
}

std::shared_ptr<const SignedCertificate> TrustedAuthorities::look_up(const std::string& fingerprint,
                                                                     std::string_view der) const {
    static const auto nobody = std::make_shared<const SignedCertificate>();
    if (authorities_.empty()) return nobody;
    auto found = known_.with([&](const Known& known) {
        const auto at = known.find(fingerprint);
        return at == known.end() ? nullptr : at->second;
    });
    if (found) return found;
    found = check(der);
    known_.with([&](Known& known) {
        if (known.size() >= max_known) known.clear();
        known.insert_or_assign(fingerprint, found);
    });
    return found;
}

std::shared_ptr<const SignedCertificate> TrustedAuthorities::check(std::string_view der) const {
    auto result = std::make_shared<SignedCertificate>();
    try {
        const X509Certificate certificate = parse_x509(der);
        result->not_before = certificate.not_before;
        result->not_after = certificate.not_after;
    } catch (const Error&) {
        return result;
    }
    for (const Authority& authority : authorities_)
        if (is_signed_by(der, authority.der)) result->signers.push_back(authority.certificate);
    return result;
}

bool TrustedAuthorities::any_expired(Time after, Time until) const {
    return known_.with([&](const Known& known) {
        return std::ranges::any_of(known, [&](const auto& item) {
            const SignedCertificate& one = *item.second;
            return !one.signers.empty() && one.not_after > after && one.not_after <= until;
        });
    });
}

}  // namespace svc
