#pragma once
// How many refused requests the audit takes: whoever floods the service must not fill its disk.
#include <cstdint>
#include <map>
#include <string>

#include "libsvc/base/clock.h"

namespace svc::server {

// So many a minute of each source, and of all together; what is beyond is counted. Not thread-safe.
class RefusalBudget {
  public:
    RefusalBudget(int of_each, int of_all) : of_each_(of_each), of_all_(of_all) {}
    bool take(const std::string& source, SteadyTime now);  // false: it is one too many
    // How many were too many in the minute that is over, once; 0: none.
    std::uint64_t left_out(SteadyTime now);

  private:
    void begin_minute(SteadyTime now);

    const int of_each_, of_all_;
    SteadyTime minute_end_{};
    std::map<std::string, int> taken_;  // by source: no more than `of_all`
    int taken_of_all_ = 0;
    std::uint64_t too_many_ = 0, too_many_before_ = 0;
};

}  // namespace svc::server
