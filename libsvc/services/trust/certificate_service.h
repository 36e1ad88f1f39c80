#pragma once
// Who is trusted: client certificates, authorities, the trust password, join tokens (specification:
// Certificates, Authentication; docs/trust.md).
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/id.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/model/cluster/certificate.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/trust/admission.h"
#include "libsvc/services/trust/certificate_changes.h"
#include "libsvc/services/trust/join_token_store.h"
#include "libsvc/services/trust/trusted_authorities.h"

namespace svc {

// The client that asks for a certificate to be added.
struct CertificateAsker {
    bool admin = false;         // by certificate, session or the local socket: needs no password
    std::string address;        // wrong tries are counted by address, see TryLimit
    std::string presented_der;  // the certificate of the connection, "" when none
    bool instance = false;      // comes from the network of the instances
};

// Thread-safe. Registers "certificate.delete". vouching() reads memory only, which follows what other
// managers store.
class CertificateService {
  public:
    CertificateService(Certificates& certificates, CertificateChanges& changes, JoinTokens& tokens,
                       const ConfigService& config, Engine& engine, Clock& clock, IdSource& ids);
    ~CertificateService();
    CertificateService(const CertificateService&) = delete;
    CertificateService& operator=(const CertificateService&) = delete;

    // The record by which a certificate is trusted at this moment: its own, or that of an authority that has
    // signed it, of several the one with the highest role. Dates count, those of the certificate and those of
    // the authority. Null: it is not trusted. Called for each handshake and each request.
    std::shared_ptr<const Certificate> vouching(std::string_view der) const;
    bool trusts(std::string_view der) const { return vouching(der) != nullptr; }
    // The same of a record's fingerprint: null unless it is in the store and valid.
    std::shared_ptr<const Certificate> valid(const std::string& fingerprint) const;

    // Adds it at once (the specification answers synchronously). Throws invalid_argument for what is no
    // certificate or whose key does not parse, is expired; forbidden "Bad password provided", "No password is
    // set", "Not Authorized" for a token; conflict "certificate already exists"; forbidden while
    // the address is blocked.
    std::shared_ptr<const Certificate> add(const CertificateRequest& request, const CertificateAsker& asker);
    // add() for askers without trust, whose password takes about 50 ms to check: runs on one of the service's
    // two threads, which calls `done` with what add() threw, or null. Up to 1000 requests wait; then `done`
    // gets exhausted.
    void add_later(CertificateRequest request, CertificateAsker asker,
                   std::function<void(std::exception_ptr)> done);
    Started remove(std::string_view fingerprint, std::string requestor);
    // What its owner may do from now on, over open connections as well. `check` sees the record and may throw
    // to refuse. Throws as get().
    std::shared_ptr<const Certificate> set_role(
        std::string_view fingerprint, Role role,
        const std::function<void(const Certificate&)>& check = [](const Certificate&) {});
    // Full fingerprint, or a unique prefix of at least 12 digits. Throws not_found.
    std::shared_ptr<const Certificate> get(std::string_view fingerprint) const;
    std::vector<std::shared_ptr<const Certificate>> list() const;
    // Called when a certificate has lost its trust or got a lower role, also by the work of another manager,
    // so that its connections are closed; any thread.
    void on_loss(std::function<void()> listener);

    // Forgets the listeners, and returns when nothing that add_later() has begun goes on; refuses more.
    void stop();

    JoinTokenStore& join_tokens() { return tokens_; }
    const JoinTokenStore& join_tokens() const { return tokens_; }
    // A periodic job: removes expired join tokens, and calls the on_loss() listeners when the validity of
    // a trusted certificate has ended since the last call.
    void expire_tokens();

  private:
    std::shared_ptr<const Certificate> signer_of(const std::string& fingerprint, std::string_view der) const;
    OperationResult delete_work(const Operation& operation);
    void catch_up();
    void look_for_expired();
    void tell_listeners() const;

    Certificates& certificates_;
    CertificateChanges& changes_;
    Engine& engine_;
    Clock& clock_;
    JoinTokenStore tokens_;
    Admission admission_;
    std::mutex catching_up_;  // guards the next two
    std::uint64_t known_authorities_, told_losses_;
    Guarded<std::shared_ptr<const TrustedAuthorities>> authorities_;
    Guarded<std::vector<std::function<void()>>> listeners_;
    Guarded<Time> last_look_;
    ThreadPool password_workers_{"trust", 2, 1000};  // checks passwords
    ThreadPool follower_{"trust-follower", 1, 1};    // last: these threads end first
};

}  // namespace svc
