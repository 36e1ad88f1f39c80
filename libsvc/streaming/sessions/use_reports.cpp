#include "libsvc/streaming/sessions/use_reports.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::size_t most_in_a_report = 1000;

}  // namespace

UseReports::UseReports(const SessionRecords& records, const Regions& regions, const Clock& clock)
    : records_(records), regions_(regions), clock_(clock) {}

// A region that does not answer is not asked: what waits for it would be old when it does.
void UseReports::tick() {
    const SteadyTime now = clock_.steady_now();
    if (now < next_) return;
    next_ = now + interval;
    for (auto& [region, instances] : used()) {
        if (!regions_.answers(region)) continue;
        auto job = [this, name = region, used = std::move(instances)] { tell(name, used); };
        if (!threads_.post(region, std::move(job))) return;  // the gateway stops
    }
}

UseReports::ByRegion UseReports::used() const {
    ByRegion found;
    for (const SessionPtr& session : records_.all())
        if (session->client_connected && !session->container_id.empty())
            found[session->region].push_back(session->container_id);
    return found;
}

// A report that is lost is followed by the next one. An older region takes none, and deletes nothing either.
void UseReports::tell(const std::string& region, const std::vector<std::string>& instances) const {
    try {
        for (std::size_t at = 0; at < instances.size(); at += most_in_a_report) {
            const auto end = std::min(instances.size(), at + most_in_a_report);
            regions_.management(region).note_uses({instances.begin() + static_cast<std::ptrdiff_t>(at),
                                                   instances.begin() + static_cast<std::ptrdiff_t>(end)});
        }
    } catch (const Error& e) {
        log::debug("uses of instances not reported", {{"region", region}, {"error", e.what()}});
    }
}

}  // namespace svc
