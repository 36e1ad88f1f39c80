#pragma once
// What the operator decides about sessions, and how instances find the gateway.
#include <cstddef>
#include <functional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/ice_servers.h"

namespace svc {

struct SessionLimits {
    Duration launch = std::chrono::minutes(5);      // then error "Container failed to start: ..."
    Duration streamer = std::chrono::seconds(30);   // of a running instance, to connect; then error
    Duration deletion = std::chrono::minutes(2);    // then error, unless forced
    Duration keep = std::chrono::hours(1);          // of terminated records that are not ephemeral
    Duration keep_failed = std::chrono::hours(24);  // of sessions in error; then they end
    // Of a streaming instance whose socket is closed; then its stream counts as over.
    Duration silent = std::chrono::minutes(2);
    Duration client_token = std::chrono::minutes(5);
    // Of a session without a client whose creator gave no idle time; 0: it does not end by itself.
    Duration idle = std::chrono::minutes(30);
    std::size_t sessions = 100'000;
    std::size_t creations_per_minute = 0;  // of one account; 0: no limit
};

struct SessionServiceConfig {
    IceConfig ice;
    std::string instance_url;  // "wss://host:port" where instances find this gateway
    // How instances verify the gateway; all "": they connect without TLS.
    std::string fingerprint;  // of the certificate that browsers see: for streamers without `server_name`
    std::string server_name, server_fingerprint;  // the TLS server name to ask for, and its certificate
    SessionLimits limits;
    // Whether an account still exists: the sessions of other accounts end. Null: all exist. Called by any
    // thread.
    std::function<bool(const std::string& owner)> has_owner = nullptr;
};

}  // namespace svc
