#pragma once
// What the operator decides about sessions, and how instances find the gateway.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/ice_servers.h"

namespace svc {

struct SessionLimits {
    // Limit for the launch of an instance; when exceeded, the session becomes error ("... failed to start").
    Duration launch = std::chrono::minutes(5);
    // Limit for the streamer of a running instance to connect; when exceeded, the session becomes error.
    Duration streamer = std::chrono::seconds(30);
    // Limit for a deletion that is not forced; when exceeded, the session becomes error.
    Duration deletion = std::chrono::minutes(2);
    Duration keep = std::chrono::hours(1);  // time that records of ended, non-ephemeral sessions are kept
    Duration keep_failed = std::chrono::hours(24);  // time after which a session in error ends
    // Limit for the instance of a connected client to have no socket; when exceeded, the stream is over.
    Duration silent = std::chrono::minutes(2);
    Duration client_token = std::chrono::minutes(5);
    // Idle time of a session whose creator gave none; without a client for this long it ends; 0: it does not.
    Duration idle = std::chrono::minutes(30);
    std::size_t sessions = 100'000;
    std::size_t creations_per_minute = 0;  // per account; 0: no limit
};

struct SessionServiceConfig {
    IceConfig ice;
    std::string instance_url;  // "wss://host:port" where instances find this gateway
    // How instances verify the gateway; all "": they connect without TLS.
    std::string fingerprint;  // certificate that browsers see; for streamers without `server_name`
    std::string server_name, server_fingerprint;  // the TLS server name to ask for, and its certificate
    SessionLimits limits;
    // Whether an account still exists: the sessions of other accounts end. Null: all exist. Called by any
    // thread.
    std::function<bool(const std::string& owner)> has_owner = nullptr;
    // Where instances find other gateways over the same store, asked at each launch; null: there are none.
    std::function<std::vector<std::string>()> other_gateways = nullptr;
};

}  // namespace svc
