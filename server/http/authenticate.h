#pragma once
// From the other end of a connection to who that is.
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

// Names the management socket's and the instances' listeners have in Peer::listener.
inline constexpr std::string_view local_listener = "local";
inline constexpr std::string_view agent_listener = "agent";
inline constexpr std::string_view tls_listener = "tls";
inline constexpr std::string_view metrics_listener = "metrics";
inline constexpr std::string_view hypervisor_listener = "hypervisor";

// Whether a client certificate is one the service trusts, at this moment: its dates are part of the question.
// Called for each request, on I/O threads: must read memory only.
using TrustQuestion = std::function<bool(const ClientCertificate&)>;
// Whether there is an instance with this id. Memory only, too.
using InstanceQuestion = std::function<bool(std::string_view id)>;
InstanceQuestion known_to(const InstanceService& instances);

// Thread-safe.
class Authenticator {
  public:
    explicit Authenticator(TrustQuestion trusts);  // empty: no certificate is trusted
    Trust trust(const Peer& peer) const;
    // True for one that was trusted by its certificate and is not any more: its connections are to end. Those
    // who never were may stay what they are.
    bool lost_trust(const Peer& peer) const;
    // Throws what the request is refused with: forbidden "Not Authorized", unauthenticated "missing token",
    // not_found.
    void check(Access access, const Request& request) const;

  private:
    TrustQuestion trusts_;
};

// The instance that the request's bearer token was issued for. Throws unauthenticated "missing token",
// forbidden "Not Authorized" for a wrong token, and when that instance is gone.
std::string token_instance(const Request& request, const AgentTokens& tokens, const InstanceQuestion& exists);

// Whom a request is counted to: an instance by its token, who has none there by the user; all others by their
// address, of IPv6 the network (/64), for whoever has one of its addresses has them all.
std::string source_of(const Request& request, const AgentTokens& tokens);

// Who asks, as operations remember it: "uid=0", a certificate's fingerprint, or "guest".
std::string requestor(const Request& request);

}  // namespace svc::server
