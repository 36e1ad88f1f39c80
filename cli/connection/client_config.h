#pragma once
// The client's own configuration folder: known remotes and the client's key.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/net/tls/tls.h"

namespace svc::cli {

struct Remote {
    std::string name;
    std::string url;  // "https://host:8444", "unix:///run/svc/unix.socket"
    std::string
        server_fingerprint;  // "" for Unix sockets, and for servers that certificate authorities vouch for
};

// Holds remotes.json, client.crt and client.key. One thread.
class Config {
  public:
    explicit Config(std::filesystem::path directory);

    // Always contains "local", whatever the file says.
    const std::vector<Remote>& remotes() const { return remotes_; }
    const std::string& default_remote() const { return default_; }
    const Remote* find(std::string_view name) const;  // null pointer: unknown
    const Remote& get(std::string_view name) const;   // throws not_found

    // Each writes the file before it returns.
    void add(Remote remote);  // throws conflict
    void remove(std::string_view name);
    void set_default(std::string_view name);
    void set_url(std::string_view name, const std::string& url, const std::string& fingerprint);

    KeyPair key_pair() const;  // made at the first call

  private:
    void load();
    void save() const;
    Remote& own(std::string_view name);  // throws for unknown remotes and for "local"

    std::filesystem::path directory_;
    std::vector<Remote> remotes_;
    std::string default_ = "local";
};

inline constexpr std::string_view local_remote = "local";
inline constexpr std::string_view default_socket = "/run/svc/unix.socket";

}  // namespace svc::cli
