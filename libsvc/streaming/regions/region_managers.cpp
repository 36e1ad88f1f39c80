#include "libsvc/streaming/regions/region_managers.h"

#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/not_serving.h"
#include "libsvc/model/cluster/metrics_server.h"
#include "libsvc/net/client/not_reached.h"

namespace svc {

namespace {

// A region that takes longer is not a good place for a session; asked again and again, it must not hold up
// the end of the process either.
constexpr std::chrono::seconds ask_timeout{10};
constexpr std::chrono::seconds work_timeout{30};

Target target_of(const RegionConfig& config, const std::string& url) {
    return with_context("region " + quoted(config.name), [&] {
        Target target = Target::parse(url);
        target.server_fingerprint = config.server_fingerprint;
        if (!config.metrics_server.empty()) MetricsServer::parse("metrics_server", config.metrics_server);
        if (!config.certificate.empty()) target.identity = KeyPair{config.certificate, config.key};
        return target;
    });
}

}  // namespace

RegionManager::RegionManager(const Target& target)
    : asking(target, ask_timeout), working(target, work_timeout) {}

RegionManagers::RegionManagers(const RegionConfig& config) : region_(config.name) {
    for (const std::string& url : config.urls)
        managers_.push_back(std::make_unique<RegionManager>(target_of(config, url)));
    if (managers_.empty())
        throw Error(ErrorCode::invalid_argument, "region " + quoted(region_) + " has no address");
}

bool RegionManagers::is_silence(const Error& error) {
    return error.code() == ErrorCode::unavailable || dynamic_cast<const NotServing*>(&error) != nullptr;
}

bool RegionManagers::got_nothing(const Error& error) {
    return dynamic_cast<const NotReached*>(&error) != nullptr;
}

// To a region's caller a service that serves nothing is one that does not answer: it may have done the work.
void RegionManagers::throw_for_caller(const Error& error) {
    if (dynamic_cast<const NotServing*>(&error) != nullptr) throw Error(ErrorCode::unavailable, error.what());
    throw;
}

void RegionManagers::pass_over(std::size_t manager) {
    if (managers_.size() == 1) return;
    std::size_t expected = manager;
    const std::size_t next = (manager + 1) % managers_.size();
    if (present_.compare_exchange_strong(expected, next))
        log::info("region: another manager is asked",
                  {{"region", region_}, {"manager", managers_[next]->asking.target().describe()}});
}

}  // namespace svc
