#pragma once
// Makes the pace of requests (Pacer) count for the cluster: managers tell each other how many requests each
// source has sent them (docs/managers.md, "Requests").
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/net/client/kept_client.h"
#include "libsvc/net/http/router.h"
#include "libsvc/store/membership.h"
#include "server/http/pacer.h"

namespace svc::server {

// Thread-safe, but for start() and stop(). What it is given outlives it. A manager that cannot be told is
// told the next counts: what it misses is at most what sources may send to it beyond their rate.
class PaceExchange {
  public:
    // `pacer` counts. `identity` is that of the cluster.
    PaceExchange(Pacer& pacer, const Membership& membership, Clock& clock,
                 std::function<PeerIdentity()> identity);
    ~PaceExchange();              // stop()
    std::vector<Route> routes();  // what other managers tell
    void start();                 // begins to tell others, on a thread of its own; once
    void stop();

  private:
    void run(const std::stop_token& stop);
    void tell(const std::string& counts);
    void tell(const Manager& manager, const std::string& counts);
    Response take(const Request& request);

    Pacer& pacer_;
    const Membership& membership_;
    Clock& clock_;
    const std::function<PeerIdentity()> identity_;
    std::map<std::string, std::unique_ptr<KeptClient>> managers_;  // by address; the thread's
    std::jthread thread_;
};

}  // namespace svc::server
