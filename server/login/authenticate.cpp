#include "server/login/authenticate.h"

#include "libsvc/base/error.h"
#include "libsvc/net/socket/network_of.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/trust/session_keys.h"
#include "server/login/session_cookie.h"

namespace svc::server {

namespace {

// What Peer::granted says: the role, and the session's id.
std::string note_of(Role role, std::string_view session) {
    return std::string(to_text(role)) + " " + std::string(session);
}

}  // namespace

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

bool Authenticator::is_manager(const Peer& peer) const {
    if (peer.listener != managers_listener || !peer.certificate || !questions_.cluster) return false;
    const std::string fingerprint = questions_.cluster();
    return !fingerprint.empty() && peer.certificate->fingerprint == fingerprint;
}

// The cookie alone may have come from another port of this host.
bool Authenticator::is_proven(const BrowserSession& session, const Request& request) const {
    if (is_key_of(session, session_key(request))) return true;
    const std::string ticket = request.method == Method::get ? request.query_value("ticket") : "";
    return !ticket.empty() && questions_.sessions->takes_ticket(session, request.path, ticket);
}

std::optional<Identity> Authenticator::by_session(const Request& request) const {
    auto shown = session(session_secret(request));
    if (!shown || !is_proven(*shown, request)) return {};
    return Identity{shown->role, shown->name, "session=" + shown->name, shown->certificate, shown};
}

std::shared_ptr<const BrowserSession> Authenticator::session(std::string_view secret) const {
    return questions_.sessions && !secret.empty() ? questions_.sessions->find(secret) : nullptr;
}

std::optional<Identity> Authenticator::by_certificate(const Peer& peer) const {
    if (!peer.certificate || !questions_.vouching) return {};
    const auto record = questions_.vouching(*peer.certificate);
    if (!record) return {};
    return Identity{record->role, peer.certificate->common_name, peer.certificate->fingerprint,
                    record->fingerprint};
}

std::optional<Identity> Authenticator::look_up(const Request& request) const {
    const Peer& peer = *request.peer;
    if (peer.transport == Transport::unix_socket) {
        if (peer.listener != local_listener) return {};
        return Identity{Role::admin, stranger(peer), stranger(peer), ""};
    }
    auto found = by_session(request);
    return found ? found : by_certificate(peer);
}

// Writes the note first and asks again: when the trust ends at the same time, either lost_trust() sees the
// note, or the second question sees the end.
std::optional<Identity> Authenticator::identify(const Request& request) const {
    auto found = look_up(request);
    const Peer& peer = *request.peer;
    if (!found || peer.transport == Transport::unix_socket) return found;
    const std::string note = note_of(found->role, found->session ? found->session->id : "");
    return peer.granted.set(note) ? found : look_up(request);
}

Trust Authenticator::trust(const Request& request) const {
    return identify(request) ? Trust::trusted : trust(*request.peer);
}

Trust Authenticator::trust(const Peer& peer) const {
    if (peer.transport == Transport::unix_socket)
        return peer.listener == local_listener ? Trust::trusted : Trust::guest;
    if (!peer.certificate) return Trust::guest;
    return by_certificate(peer) ? Trust::trusted : Trust::untrusted;
}

std::optional<Role> Authenticator::role_now(const Peer& peer, const std::string& session) const {
    if (session.empty()) {
        const auto found = by_certificate(peer);
        return found ? std::optional(found->role) : std::nullopt;
    }
    const auto found = questions_.sessions ? questions_.sessions->find_by_id(session) : nullptr;
    return found ? std::optional(found->role) : std::nullopt;
}

bool Authenticator::lost_trust(const Peer& peer) const {
    const std::string note = peer.granted.get();
    if (note.empty()) return false;
    const std::size_t space = note.find(' ');
    const auto now = role_now(peer, note.substr(space + 1));
    return !now || *now < parse_role(note.substr(0, space));
}

void Authenticator::refuse_stranger(const Request& request) const {
    throw Error(ErrorCode::forbidden,
                session(session_secret(request))
                    ? "Not Authorized: the cookie of a session counts with its key alone"
                    : "Not Authorized");
}

void Authenticator::require(Role role, const Request& request) const {
    const auto identity = identify(request);
    if (!identity) refuse_stranger(request);
    if (identity->role >= role) return;
    throw Error(ErrorCode::forbidden, "Not Authorized: this needs the role " + std::string(to_text(role)) +
                                          ", and " + identity->name + " has " +
                                          std::string(to_text(identity->role)));
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
        case Access::viewer:
            return require(Role::viewer, request);
        case Access::operator_:
            return require(Role::operator_, request);
        case Access::admin:
            return require(Role::admin, request);
        case Access::token:  // Middleware::check_token() checks a token that is there
            if (request.headers.find("Authorization")) return;
            if (!identify(request)) throw Error(ErrorCode::unauthenticated, "missing token");
            return require(Role::operator_, request);
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
        return stranger(*request.peer);
    }
}

std::string stranger(const Peer& peer) {
    if (peer.transport == Transport::unix_socket) return "uid=" + std::to_string(peer.uid);
    return peer.certificate ? peer.certificate->fingerprint : "guest";
}

}  // namespace svc::server
