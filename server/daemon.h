#pragma once
// svcd as an object: the concrete store and blob store, the runtime that the options name (runtime_choice.h),
// the ManagementService over them, and HTTP in front of it.
#include <memory>
#include <string>
#include <vector>

#include "server/cluster/candidacy.h"
#include "server/options.h"

namespace svc::server {

struct ServedRoute {
    std::string name;    // "GET /1.0/images/{id}"
    std::string access;  // "viewer"
};

// One thread. Throws Error when it cannot start: busy for a state directory or an address in use.
class Daemon {
  public:
    // Opens the state, recovers what an earlier process left, and serves.
    // `cluster`: given by tests; else the options say whether there is one.
    explicit Daemon(Options options, ClusterSeams cluster = {});
    ~Daemon();  // stop()
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    const std::vector<std::string>& addresses()
        const;                                // "unix:/run/svc/unix.socket", "https://[::]:8444", ...
    std::vector<ServedRoute> routes() const;  // what the API's document has to tell
    std::string tls_fingerprint() const;      // "" without TLS
    // Another manager has taken over the records; the process was told to end (SIGTERM).
    bool lost() const;
    void reload(log::Level level);  // and the server's certificate
    // Stops the service as ManagementService::stop() does, with options.shutdown_grace, then serves no more
    // requests. Instances keep running. False when work was still going on: the process should exit without
    // destroying this.
    bool stop();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace svc::server
