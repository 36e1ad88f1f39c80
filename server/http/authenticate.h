#pragma once
// Authenticates clients: decides who a client is, and which routes it may call.
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/router.h"
#include "libsvc/services/trust/agent_tokens.h"

namespace svc {
class InstanceService;
}

namespace svc::server {

enum class Trust { guest, untrusted, trusted };
std::string_view to_text(Trust trust);

// Names of the listeners in Peer::listener: the management socket, the socket of the instances, the API over
// TLS, metrics, other managers.
inline constexpr std::string_view local_listener = "local";
inline constexpr std::string_view agent_listener = "agent";
inline constexpr std::string_view tls_listener = "tls";
inline constexpr std::string_view metrics_listener = "metrics";
inline constexpr std::string_view hypervisor_listener = "hypervisor";
inline constexpr std::string_view managers_listener = "managers";  // only for other managers of the cluster

// Whether the service trusts a client certificate now; dates count. Called for each request, on I/O threads:
// must read memory only.
using TrustQuestion = std::function<bool(const ClientCertificate&)>;
// Whether there is an instance with this id. Must read memory only, too.
using InstanceQuestion = std::function<bool(std::string_view id)>;
InstanceQuestion known_to(const InstanceService& instances);

// Thread-safe.
class Authenticator {
  public:
    // `trusts` empty: no certificate is trusted. `cluster`: the fingerprint of the certificate that all
    // managers have; asked for each request of the managers' listener, must read memory only. Empty: nobody
    // is a manager.
    explicit Authenticator(TrustQuestion trusts, std::function<std::string()> cluster = {});
    Trust trust(const Peer& peer) const;
    bool is_manager(const Peer& peer) const;  // of this cluster, on the listener for them
    // True for a peer that was trusted by its certificate and no longer is: its connections must end. A peer
    // that was never trusted keeps its connection.
    bool lost_trust(const Peer& peer) const;
    // Throws the Error with which a request is refused: forbidden "Not Authorized", unauthenticated "missing
    // token", not_found.
    void check(Access access, const Request& request) const;

  private:
    TrustQuestion trusts_;
    std::function<std::string()> cluster_;
};

// The id of the instance that the request's bearer token was issued for. Throws unauthenticated "missing
// token", and forbidden "Not Authorized" for a wrong token or when the instance is gone.
std::string token_instance(const Request& request, const AgentTokens& tokens, const InstanceQuestion& exists);

// The source that a request is counted to. On the socket of the instances: the instance of the token, without
// a token the user of the process. Else the IP address; of IPv6 the network (/64), because a client may have
// all its addresses.
std::string source_of(const Request& request, const AgentTokens& tokens);

// The client, as records of operations name it: "uid=0", the fingerprint of a certificate, or "guest".
std::string requestor(const Request& request);

}  // namespace svc::server
