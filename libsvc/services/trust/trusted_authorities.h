#pragma once
// Which certificates the trusted authorities have signed. A snapshot in memory.
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/model/cluster/certificate.h"

namespace svc {

// A certificate that is not in the store itself, and the authorities that have signed it.
struct SignedCertificate {
    Time not_before{}, not_after{};
    std::vector<std::shared_ptr<const Certificate>> signers;
};

// Thread-safe; the authorities are fixed. A signature is checked once and remembered, for at most 4096
// certificates.
class TrustedAuthorities {
  public:
    explicit TrustedAuthorities(const std::vector<std::shared_ptr<const Certificate>>& certificates);
    // No signers: none of the authorities has signed it, or it is not a certificate.
    std::shared_ptr<const SignedCertificate> look_up(const std::string& fingerprint,
                                                     std::string_view der) const;
    // Whether the validity of a certificate that was looked up has ended in (after, until].
    bool any_expired(Time after, Time until) const;

  private:
    struct Authority {
        std::shared_ptr<const Certificate> certificate;
        std::string der;
    };
    using Known = std::unordered_map<std::string, std::shared_ptr<const SignedCertificate>>;
    std::shared_ptr<const SignedCertificate> check(std::string_view der) const;

    std::vector<Authority> authorities_;
    mutable Guarded<Known> known_;
};

}  // namespace svc
