#pragma once
// The address of a server, and how its certificate is checked.
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
    std::string server_name;            // the name that TLS and requests ask for; "": `host`
    std::string server_fingerprint;     // "": the system's certificate authorities decide
    std::filesystem::path authorities;  // PEM; trusted instead of the system's authorities. "": those
    std::string authorities_text;       // the same as text, for call_directly() alone
    std::optional<KeyPair> identity;    // our client certificate
    bool unverified = false;            // without a fingerprint: any certificate is accepted
    std::optional<Proxy> proxy;         // of TCP: CONNECT for TLS, else requests with the whole address
    // "https://host:8444", "http://host:1", "unix:///run/svc/unix.socket"; throws invalid_argument.
    static Target parse(std::string_view url);
    std::string describe() const;
    const std::string& tls_name() const { return server_name.empty() ? host : server_name; }
};

}  // namespace svc
