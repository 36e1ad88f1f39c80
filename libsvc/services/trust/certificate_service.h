#pragma once
// Who is trusted: client certificates, authorities, the trust password, join tokens (specification:
// Certificates, Authentication; facts 14).
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/model/cluster/certificate.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/configuration/config_service.h"

namespace svc {

// Who asks for a certificate to be added.
struct CertificateAsker {
    bool trusted = false;       // by certificate or by the local socket: needs no password
    std::string address;        // counts wrong tries: 5 wrong ones, then none is looked at for 10 s
    std::string presented_der;  // the certificate of the connection, "" when none
};

// An invitation as its maker sees it, once.
struct IssuedToken {
    JoinToken token;
    std::string text;  // what to hand over: base64 of JSON {"id","secret","fingerprint","addresses"}
};

// Thread-safe. Registers "certificate.delete". trusts() reads memory only.
class CertificateService {
  public:
    CertificateService(Certificates& certificates, JoinTokens& tokens, const ConfigService& config,
                       Engine& engine, Clock& clock, IdSource& ids);
    ~CertificateService();

    // A certificate that is in the store, or was signed by an authority that is; within its validity dates,
    // at this moment. Called for each handshake and each request.
    bool trusts(std::string_view der) const;

    // Adds it at once (the specification answers synchronously). Throws invalid_argument for what is no
    // certificate or whose key does not parse, is expired; forbidden "Bad password provided", "No password is
    // set", "Not Authorized" for a token; conflict "certificate already exists"; exhausted... as forbidden
    // while an address is blocked.
    std::shared_ptr<const Certificate> add(const CertificateRequest& request, const CertificateAsker& asker);
    // The same for askers without trust, whose password takes a while to check: on one of the service's two
    // threads, which calls `done` with what add() threw, or nothing. Many may wait; what is too many is
    // exhausted.
    void add_later(CertificateRequest request, CertificateAsker asker,
                   std::function<void(std::exception_ptr)> done);
    Started remove(std::string_view fingerprint, std::string requestor);
    // Full fingerprint, or a unique prefix of at least 12 digits. Throws not_found.
    std::shared_ptr<const Certificate> get(std::string_view fingerprint) const;
    std::vector<std::shared_ptr<const Certificate>> list() const;
    // Called when trust in some certificate has ended: connections of those that are no longer trusted are to
    // be closed.
    void on_removed(std::function<void()> listener);

    // Join tokens (extension): one use, until they expire.
    IssuedToken issue_token(std::string name, Duration validity, std::string_view server_fingerprint,
                            const std::vector<std::string>& addresses);
    std::vector<std::shared_ptr<const JoinToken>> tokens() const;
    void revoke_token(std::string_view id);
    // A periodic job. Trust also ends by the calendar: on_removed() listeners are called when it has.
    void expire_tokens();

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
