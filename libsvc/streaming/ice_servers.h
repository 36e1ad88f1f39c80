#pragma once
// STUN and TURN servers with short-lived credentials as coturn makes them from a shared secret.
// The user name is "<end of validity, Unix seconds>:<user>", the password the base64 of its HMAC-SHA1.
// Pure.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc {

struct IceConfig {
    std::vector<std::string> stun_urls;  // "stun:host:port"
    std::vector<std::string> turn_urls;  // "turn:host:port?transport=udp"
    std::string turn_secret;
    Duration turn_ttl = std::chrono::hours(12);
    void check() const;  // throws invalid_argument naming the URL
};

// [{"urls": [...], "username": ..., "password": ...}]; [] when there are none. `user` is part of the user
// name.
Json ice_servers(const IceConfig& config, std::string_view user, Time now);

}  // namespace svc
