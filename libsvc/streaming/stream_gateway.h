#pragma once
// The stream gateway without its HTTP: builds its services over the seams, wires them, starts and stops them
// in order. For svc-gateway, for its tests, and for programs that embed a gateway.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/periodic.h"
#include "libsvc/store/store.h"
#include "libsvc/streaming/account_service.h"
#include "libsvc/streaming/regions/management.h"
#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/relay/relay.h"
#include "libsvc/streaming/sessions/session_service.h"
#include "libsvc/streaming/tokens.h"

namespace svc {

struct StreamGatewayOptions {
    std::string token_secret;                 // as of TokenMint::load_secret
    std::string location = "stream-gateway";  // the gateway's name in its tokens
    std::vector<RegionConfig> regions;
    Duration region_interval = std::chrono::seconds(5);  // between two requests for a region's applications
    // Between two calls of Relay::tick() and SessionService::tick(); 0: the owner makes them.
    Duration tick_interval = std::chrono::seconds(1);
};

// What the gateway works with; outlives it.
struct StreamGatewaySeams {
    Store& store;
    Clock& clock;
    IdSource& ids;
    std::function<std::unique_ptr<Management>(const RegionConfig&)> management = make_management_client;
};

// open(), start() and stop() are for one thread; the services are thread-safe.
class StreamGateway {
  public:
    // Loads the accounts. Throws Error when the store has a record that cannot be read.
    StreamGateway(const StreamGatewayOptions& options, const StreamGatewaySeams& seams);
    ~StreamGateway();  // stop()
    StreamGateway(const StreamGateway&) = delete;
    StreamGateway& operator=(const StreamGateway&) = delete;

    // Loads the sessions; from now on sessions() is there. After the listening sockets are open, because the
    // configuration says where instances find the gateway. Without `has_owner`, sessions end with their
    // account.
    void open(SessionServiceConfig config);
    void start();  // after open(): asks the regions, continues what an earlier process left
    // No new work; what is under way is continued by the next start. Instances and their media go on.
    // Idempotent.
    void stop();

    AccountService& accounts() { return accounts_; }
    Regions& regions() { return regions_; }
    Relay& relay() { return relay_; }
    SessionService& sessions() { return *sessions_; }  // after open()

  private:
    Store& store_;
    Clock& clock_;
    IdSource& ids_;
    const Duration tick_interval_;
    const TokenMint mint_;
    AccountService accounts_;
    Relay relay_;
    Regions regions_;
    std::unique_ptr<SessionService> sessions_;  // null until open()
    std::unique_ptr<Periodic> periodic_;        // last: calls all of the above
};

}  // namespace svc
