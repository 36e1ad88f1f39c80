#include "server/http/listener_limits.h"

#include <unistd.h>

#include <algorithm>

namespace svc::server {

namespace {

constexpr uid_t ids_of_a_range = 65536;  // every range begins at a multiple of it

Standing standing_of_user(const Peer& peer) {
    return peer.uid == 0 || peer.uid == geteuid() ? Standing::reserved : Standing::trusted;
}

Standing untrusted(const Peer&) {
    return Standing::untrusted;
}

// `most` is never so small that nobody gets in.
ListenerLimits share_of(std::size_t most, std::size_t each, std::function<Standing(const Peer&)> standing) {
    ListenerLimits limits;
    limits.standing = std::move(standing);
    limits.untrusted = std::max<std::size_t>(most, 1);
    limits.each = each;
    return limits;
}

}  // namespace

ListenerLimits local_limits() {
    ListenerLimits limits;
    limits.standing = standing_of_user;
    return limits;
}

ListenerLimits agent_limits(const ConnectionShares& shares, bool shared_ids) {
    const std::size_t all = shares.max_connections / 4;
    ListenerLimits limits = share_of(all, shared_ids ? all : shares.each_instance, untrusted);
    limits.source = instance_of;
    return limits;
}

ListenerLimits tls_limits(const ConnectionShares& shares, const Authenticator& authenticator) {
    return share_of(shares.max_connections / 2, shares.each_address, [&authenticator](const Peer& peer) {
        return authenticator.trust(peer) == Trust::trusted ? Standing::trusted : Standing::untrusted;
    });
}

ListenerLimits metrics_limits(const ConnectionShares& shares) {
    return share_of(shares.max_connections / 16, shares.each_address, untrusted);
}

ListenerLimits manager_limits(const ConnectionShares& shares, std::function<bool(const Peer&)> is_manager) {
    return share_of(shares.max_connections / 8, shares.each_address,
                    [is_manager = std::move(is_manager)](const Peer& peer) {
                        return is_manager(peer) ? Standing::reserved : Standing::untrusted;
                    });
}

std::string instance_of(const Peer& peer) {
    const uid_t range = peer.uid / ids_of_a_range;
    return range == 0 ? "uid=" + std::to_string(peer.uid) : "ids=" + std::to_string(range);
}

}  // namespace svc::server
