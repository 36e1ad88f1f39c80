#pragma once
// Authenticates clients: decides who a client is, what it may do, and which routes it may call.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/model/cluster/certificate.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/router.h"
#include "libsvc/services/trust/agent_tokens.h"
#include "libsvc/services/trust/session_service.h"

namespace svc {
class InstanceService;
}

namespace svc::server {

enum class Trust { guest, untrusted, trusted };
std::string_view to_text(Trust trust);

// A trusted client.
struct Identity {
    Role role = Role::viewer;
    std::string name;         // "uid=0", the common name of a certificate, the name of a session
    std::string requestor;    // as records name it: "uid=0", a fingerprint, "session=<name>"
    std::string certificate;  // fingerprint of the record that vouches for it; "": it depends on none
    std::shared_ptr<const BrowserSession> session = {};  // null: it has another way in
};

// Names of the listeners in Peer::listener: the management socket, the socket of the instances, the API over
// TLS, metrics, other managers.
inline constexpr std::string_view local_listener = "local";
inline constexpr std::string_view agent_listener = "agent";
inline constexpr std::string_view tls_listener = "tls";
inline constexpr std::string_view metrics_listener = "metrics";
inline constexpr std::string_view hypervisor_listener = "hypervisor";
inline constexpr std::string_view managers_listener = "managers";  // only for other managers of the cluster

// What the authenticator asks for each request, on I/O threads: must read memory only.
struct TrustQuestions {
    // The record by which a client certificate is trusted now; dates count. Empty, or null: by none.
    std::function<std::shared_ptr<const Certificate>(const ClientCertificate&)> vouching = {};
    const BrowserSessionService* sessions = nullptr;  // null: there are none
    // The fingerprint of the certificate that all managers have. Empty: nobody is a manager.
    std::function<std::string()> cluster = {};
};

// Whether there is an instance with this id. Must read memory only, too.
using InstanceQuestion = std::function<bool(std::string_view id)>;
InstanceQuestion known_to(const InstanceService& instances);

// Thread-safe.
class Authenticator {
  public:
    explicit Authenticator(TrustQuestions questions) : questions_(std::move(questions)) {}

    // The client of a request: by the local socket, by the session whose cookie and key it shows over TLS, or
    // by its certificate, in this order. Nothing: it is not trusted. Notes in Peer::granted what may be lost.
    std::optional<Identity> identify(const Request& request) const;
    // The session of a cookie, which alone lets nobody in. Null: there is none.
    std::shared_ptr<const BrowserSession> session(std::string_view secret) const;
    Trust trust(const Request& request) const;
    Trust trust(const Peer& peer) const;      // by what the connection itself shows
    bool is_manager(const Peer& peer) const;  // of this cluster, on the listener for them
    // True for a peer whose last request was let in by a session or certificate that has ended since, or may
    // do less: its connection must end. A peer that was never trusted keeps its connection.
    bool lost_trust(const Peer& peer) const;
    // Throws the Error with which a request is refused: forbidden "Not Authorized", and to a trusted client
    // also which role is needed; unauthenticated "missing token"; not_found.
    void check(Access access, const Request& request) const;
    void require(Role role, const Request& request) const;  // the same

  private:
    std::optional<Identity> look_up(const Request& request) const;
    bool is_proven(const BrowserSession& session, const Request& request) const;
    [[noreturn]] void refuse_stranger(const Request& request) const;
    std::optional<Identity> by_session(const Request& request) const;
    std::optional<Identity> by_certificate(const Peer& peer) const;
    std::optional<Role> role_now(const Peer& peer, const std::string& session) const;

    const TrustQuestions questions_;
};

// The id of the instance that the request's bearer token was issued for. Throws unauthenticated "missing
// token", and forbidden "Not Authorized" for a wrong token or when the instance is gone.
std::string token_instance(const Request& request, const AgentTokens& tokens, const InstanceQuestion& exists);

// The source that a request is counted to. On the socket of the instances: the instance of the token, without
// a token the user of the process. Else the IP address; of IPv6 the network (/64), because a client may have
// all its addresses.
std::string source_of(const Request& request, const AgentTokens& tokens);

// A client that is not trusted, as records name it: "uid=7", the fingerprint of a certificate, or "guest".
std::string stranger(const Peer& peer);

}  // namespace svc::server
