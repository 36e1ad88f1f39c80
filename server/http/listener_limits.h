#pragma once
// What the clients of each of svcd's listeners may take of the server.
#include "libsvc/net/server/server.h"
#include "server/login/authenticate.h"

namespace svc::server {

struct ConnectionShares {
    std::size_t max_connections = 0;  // of the server
    std::size_t each_address = 256;   // of an address, or IPv6 network, that is not trusted
    std::size_t each_instance = 64;
};

// Root on the local socket has what is reserved. `authenticator` outlives the server.
ListenerLimits local_limits();
// `shared_ids`: the instances cannot be told apart by their users. Then each may take what all have.
ListenerLimits agent_limits(const ConnectionShares& shares, bool shared_ids);
ListenerLimits tls_limits(const ConnectionShares& shares, const Authenticator& authenticator);
ListenerLimits metrics_limits(const ConnectionShares& shares);
// Managers, as `is_manager` tells, have what is reserved: root waits for what they are asked.
ListenerLimits manager_limits(const ConnectionShares& shares, std::function<bool(const Peer&)> is_manager);

// Whom a connection over the socket of the instances counts for: the range of ids that the user is in,
// because an instance has a range and can use every id of it; a user of the host below them.
std::string instance_of(const Peer& peer);

}  // namespace svc::server
