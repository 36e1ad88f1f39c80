#pragma once
// Internal to the certificate service: its state, shared by its source files.
#include <mutex>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/services/trust/certificate_service.h"
#include "libsvc/services/trust/trusted_authorities.h"
#include "libsvc/services/trust/try_limit.h"

namespace svc {

class CertificateService::Implementation {
  public:
    Implementation(Certificates& certificates, JoinTokens& tokens, const ConfigService& config,
                   Engine& engine, Clock& clock, IdSource& ids);

    // certificate_service.cpp
    bool trusts(std::string_view der) const;
    std::shared_ptr<const Certificate> add(const CertificateRequest& request, const CertificateAsker& asker);
    void add_later(CertificateRequest request, CertificateAsker asker,
                   std::function<void(std::exception_ptr)> done);
    Started remove(std::string_view fingerprint, std::string requestor);
    std::shared_ptr<const Certificate> get(std::string_view fingerprint) const;
    std::vector<std::shared_ptr<const Certificate>> list() const { return certificates_.list(); }
    void on_removed(std::function<void()> listener) {
        listeners_.with([&](auto& all) { all.push_back(std::move(listener)); });
    }
    void look_for_expired();

    // join_tokens.cpp
    IssuedToken issue_token(std::string name, Duration validity, std::string_view server_fingerprint,
                            const std::vector<std::string>& addresses);
    std::vector<std::shared_ptr<const JoinToken>> tokens() const;
    void revoke_token(std::string_view id);
    void expire_tokens();

  private:
    // join_tokens.cpp. Throws forbidden; says for the log what was accepted. A token's removal goes into
    // `together`.
    std::string authorise(const CertificateRequest& request, std::string_view address, Batch& together);
    void check_password(std::string_view password, std::string_view address);
    std::string use_token(const Json& token, std::string_view address, Batch& together);

    OperationResult delete_work(const Operation& operation);
    void refresh();
    void tell_listeners() const;

    Certificates& certificates_;
    JoinTokens& tokens_;
    const ConfigService& config_;
    Engine& engine_;
    Clock& clock_;
    IdSource& ids_;
    std::mutex refreshing_;
    Guarded<std::shared_ptr<const TrustedAuthorities>> authorities_;
    Guarded<std::vector<std::function<void()>>> listeners_;
    Guarded<Time> last_look_;
    TryLimit tries_{clock_};
    ThreadPool strangers_{"trust", 2, 1000};  // 50 ms and 16 MiB for each password; last: ends first
};

}  // namespace svc
