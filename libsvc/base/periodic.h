#pragma once
// Named jobs that run at an interval, all on one thread.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/base/clock.h"

namespace svc {

struct PeriodicJob {
    std::string name;
    std::function<Duration()> interval;  // called before each wait, so that a new value is effective soon
    std::function<void(std::stop_token)> run;  // an exception is logged; the job runs again
};

// Starts at construction, ends with the object. Jobs run one at a time.
class Periodic {
  public:
    Periodic(Clock& clock, std::vector<PeriodicJob> jobs);
    ~Periodic();
    Periodic(const Periodic&) = delete;
    Periodic& operator=(const Periodic&) = delete;

  private:
    void run(const std::stop_token& stop, SteadyTime begin);

    Clock& clock_;
    std::vector<PeriodicJob> jobs_;
    std::jthread thread_;
};

}  // namespace svc
