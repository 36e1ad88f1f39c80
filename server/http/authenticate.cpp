#include "server/http/authenticate.h"

#include "libsvc/base/error.h"
#include "libsvc/net/socket/network_of.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc::server {

std::string_view to_text(Trust trust) {
    switch (trust) {
        case Trust::trusted:
            return "trusted";
        case Trust::untrusted:
            return "untrusted";
        case Trust::guest:
            break;
    }
    return "guest";
}

Authenticator::Authenticator(TrustQuestion trusts, std::function<std::string()> cluster)
    : trusts_(std::move(trusts)), cluster_(std::move(cluster)) {}

bool Authenticator::is_manager(const Peer& peer) const {
    if (peer.listener != managers_listener || !peer.certificate || !cluster_) return false;
    const std::string fingerprint = cluster_();
    return !fingerprint.empty() && peer.certificate->fingerprint == fingerprint;
}

Trust Authenticator::trust(const Peer& peer) const {
    if (peer.transport == Transport::unix_socket)
        return peer.listener == local_listener ? Trust::trusted : Trust::guest;
    if (!peer.certificate) return Trust::guest;
    if (!trusts_ || !trusts_(*peer.certificate)) return Trust::untrusted;
    // Sets the mark first and asks again: when the trust ends at the same time, either lost_trust() sees the
    // mark, or the second question sees the end.
    if (!peer.trusted.set() && !trusts_(*peer.certificate)) return Trust::untrusted;
    return Trust::trusted;
}

bool Authenticator::lost_trust(const Peer& peer) const {
    return peer.certificate && peer.trusted.is_set() && !(trusts_ && trusts_(*peer.certificate));
}

void Authenticator::check(Access access, const Request& request) const {
    // On the socket of the instances there are only the routes that a token opens.
    if (request.peer->listener == agent_listener && access != Access::token)
        throw Error(ErrorCode::not_found, "not found");
    if (request.peer->listener == managers_listener) {
        if (!is_manager(*request.peer)) throw Error(ErrorCode::forbidden, "Not Authorized");
        return;
    }
    switch (access) {
        case Access::everyone:
        case Access::secret:  // the handler compares it
            return;
        case Access::trusted:
            if (trust(*request.peer) != Trust::trusted) throw Error(ErrorCode::forbidden, "Not Authorized");
            return;
        case Access::token:  // Middleware::check_token() checks a token that is there
            if (!request.headers.find("Authorization") && trust(*request.peer) != Trust::trusted)
                throw Error(ErrorCode::unauthenticated, "missing token");
            return;
    }
}

InstanceQuestion known_to(const InstanceService& instances) {
    return [&instances](std::string_view id) {
        try {
            return instances.records().get(id)->id.str() == id;
        } catch (const Error& e) {
            if (e.code() == ErrorCode::not_found) return false;
            throw;
        }
    };
}

std::string token_instance(const Request& request, const AgentTokens& tokens,
                           const InstanceQuestion& exists) {
    std::string instance = tokens.check(request.headers.get("Authorization"));
    if (!exists || !exists(instance)) throw Error(ErrorCode::forbidden, "Not Authorized");
    return instance;
}

std::string source_of(const Request& request, const AgentTokens& tokens) {
    if (request.peer->transport != Transport::unix_socket) return network_of(request.peer->address);
    try {
        return "instance=" + tokens.check(request.headers.get("Authorization"));
    } catch (const Error&) {
        return requestor(request);
    }
}

std::string requestor(const Request& request) {
    if (request.peer->transport == Transport::unix_socket) return "uid=" + std::to_string(request.peer->uid);
    return request.peer->certificate ? request.peer->certificate->fingerprint : "guest";
}

}  // namespace svc::server
