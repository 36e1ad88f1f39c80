#pragma once
// Tells the regions which instances clients use, so that none is deleted as idle (docs/management.md, "Time
// to live").
#include <map>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/regions/region_threads.h"
#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/sessions/session_records.h"

namespace svc {

// tick() is for one thread at a time; the regions are asked on threads of their own, one each.
class UseReports {
  public:
    static constexpr std::chrono::seconds interval{20};  // a third of the shortest limit

    UseReports(const SessionRecords& records, const Regions& regions, const Clock& clock);
    void tick();  // tells of all sessions whose media flow, once in each interval
    void stop() { threads_.stop(); }

  private:
    using ByRegion = std::map<std::string, std::vector<std::string>>;
    ByRegion used() const;
    void tell(const std::string& region, const std::vector<std::string>& instances) const;

    const SessionRecords& records_;
    const Regions& regions_;
    const Clock& clock_;
    SteadyTime next_{};
    RegionThreads threads_{"uses", 1};
};

}  // namespace svc
