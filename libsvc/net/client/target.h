#pragma once
// Where a server is and how to know it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "libsvc/net/tls/tls.h"

namespace svc {

// An HTTP proxy on the way to a server.
struct Proxy {
    std::string host;
    std::uint16_t port = 0;
    std::string authorization;  // value of the Proxy-Authorization header; "": none
    // "http://[user:password@]host:3128"; throws invalid_argument.
    static Proxy parse(std::string_view url);
};

struct Target {
    std::filesystem::path unix_path;  // set: all else is unused
    std::string host;
    std::uint16_t port = 0;
    bool tls = true;
    std::string server_name;          // whom to ask for there; "": `host`
    std::string server_fingerprint;   // "": the system's certificate authorities decide
    std::optional<KeyPair> identity;  // our client certificate
    bool unverified = false;          // without a fingerprint: any certificate will do
    std::optional<Proxy> proxy;  // of a TCP target: a tunnel for TLS, the whole address in plain requests
    // "https://host:8444", "http://host:1", "unix:///run/svc/unix.socket"; throws invalid_argument.
    static Target parse(std::string_view url);
    std::string describe() const;
    const std::string& tls_name() const { return server_name.empty() ? host : server_name; }
};

}  // namespace svc
