#pragma once
// svc-gateway: the stream gateway of libsvc/streaming behind HTTP and TLS. The one place of the gateway that
// names a concrete store.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/regions/management.h"
#include "server/gateway/options.h"

namespace svc::gateway {

// What tests replace.
struct Seams {
    Clock* clock = nullptr;  // null: the system's
    std::function<std::unique_ptr<Management>(const RegionConfig&)> management = make_management_client;
    Duration region_interval = std::chrono::seconds(5);
};

// One thread. Throws Error when it cannot start: busy for a state directory or an address in use.
class Gateway {
  public:
    // Opens the state, continues what an earlier process left, and serves.
    explicit Gateway(Options options, const Seams& seams = {});
    ~Gateway();  // stop()
    Gateway(const Gateway&) = delete;
    Gateway& operator=(const Gateway&) = delete;

    // "unix:/run/svc-gateway/unix.socket", "https://[::]:4000", "https://127.0.0.1:9105/internal/1.0/metrics"
    const std::vector<std::string>& addresses() const;
    std::vector<std::string> routes() const;  // "GET /1.0/sessions/{id}"
    std::string fingerprint() const;          // of the certificate browsers now see
    void reload(log::Level level);            // and the certificate
    // No new work; what is under way is continued by the next start. Instances and their media go on.
    void stop();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace svc::gateway
