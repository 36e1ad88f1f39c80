#pragma once
// How many refused requests of strangers the audit takes: whoever floods the service must not fill its disk.
#include <cstdint>
#include <map>
#include <string>

#include "libsvc/base/clock.h"

namespace svc::server {

// Ten a minute of each source, 600 of all together; what is beyond is counted. Not thread-safe.
class RefusalBudget {
  public:
    bool take(const std::string& source, SteadyTime now);  // false: it is one too many
    // How many were too many in the minute that is over, once; 0: none.
    std::uint64_t left_out(SteadyTime now);

  private:
    void begin_minute(SteadyTime now);

    SteadyTime minute_end_{};
    std::map<std::string, int> taken_;  // by source: 600 at most
    int taken_of_all_ = 0;
    std::uint64_t too_many_ = 0, too_many_before_ = 0;
};

}  // namespace svc::server
