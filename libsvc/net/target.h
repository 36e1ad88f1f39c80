#pragma once
// Where a server is and how to know it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "libsvc/net/tls.h"

namespace svc {

struct Target {
    std::filesystem::path unix_path;  // set: all else is unused
    std::string host;
    std::uint16_t port = 0;
    bool tls = true;
    std::string server_fingerprint;   // "": the system's certificate authorities decide
    std::optional<KeyPair> identity;  // our client certificate
    // "https://host:8444", "http://host:1", "unix:///run/svc/unix.socket"; throws invalid_argument.
    static Target parse(std::string_view url);
    std::string describe() const;
};

}  // namespace svc
