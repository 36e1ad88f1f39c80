#pragma once
// The daemon's objects, built in order; nothing else. The one place that names a concrete store, blob store
// and runtime.
#include <memory>
#include <string>
#include <vector>

#include "server/options.h"

namespace svc::server {

// One thread. Throws Error when it cannot start: busy for a state directory or an address in use.
class Daemon {
  public:
    // Opens the state, recovers what an earlier process left, and serves.
    explicit Daemon(Options options);
    ~Daemon();  // stop()
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    const std::vector<std::string>& addresses()
        const;                                // "unix:/run/svc/unix.socket", "https://[::]:8444", ...
    std::vector<std::string> routes() const;  // "GET /1.0/images/{id}": what the API's document has to tell
    std::string tls_fingerprint() const;      // "" without TLS
    void reload(log::Level level);            // and the server's certificate
    // No new work, cancels what may be cancelled, gives the rest its grace, then serves no more. Instances
    // keep running. False when work was still going on at the end: the process should exit without tearing
    // down.
    bool stop();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

// For uninstalling: removes every container of the state directory, then the bridge and the rules. Records,
// packages and layers stay. Throws busy while a daemon uses the directory.
void tear_down(const Options& options);

}  // namespace svc::server
