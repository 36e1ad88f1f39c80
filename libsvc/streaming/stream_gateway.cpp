#include "libsvc/streaming/stream_gateway.h"

#include <stop_token>
#include <utility>

namespace svc {

namespace {

std::vector<Regions::Member> connect_regions(const StreamGatewayOptions& options,
                                             const StreamGatewaySeams& seams) {
    std::vector<Regions::Member> members;
    for (const RegionConfig& region : options.regions)
        members.push_back({region.name, seams.management(region)});
    return members;
}

}  // namespace

StreamGateway::StreamGateway(const StreamGatewayOptions& options, const StreamGatewaySeams& seams)
    : store_(seams.store),
      clock_(seams.clock),
      ids_(seams.ids),
      tick_interval_(options.tick_interval),
      mint_(options.token_secret, options.location),
      accounts_(store_, mint_, clock_),
      relay_(clock_),
      regions_(connect_regions(options, seams), clock_, options.region_interval) {}

StreamGateway::~StreamGateway() {
    stop();
}

void StreamGateway::open(SessionServiceConfig config) {
    if (!config.has_owner)
        config.has_owner = [this](const SessionOwner& owner) { return accounts_.has(owner); };
    sessions_ = std::make_unique<SessionService>(
        SessionService::Parts{store_, clock_, ids_, regions_, relay_, mint_}, std::move(config));
}

void StreamGateway::start() {
    relay_.listen(*sessions_);
    regions_.start(*sessions_);
    sessions_->start();
    if (tick_interval_ <= Duration::zero()) return;
    const auto interval = [this] { return tick_interval_; };
    periodic_ = std::make_unique<Periodic>(
        clock_, std::vector<PeriodicJob>{
                    {"relay", interval, [this](const std::stop_token&) { relay_.tick(); }},
                    {"sessions", interval, [this](const std::stop_token&) { sessions_->tick(); }}});
}

// Sessions first: a socket that closes because the gateway stops is no event of its session.
void StreamGateway::stop() {
    periodic_.reset();
    if (sessions_) sessions_->stop();
    regions_.stop();
    relay_.stop();
}

}  // namespace svc
