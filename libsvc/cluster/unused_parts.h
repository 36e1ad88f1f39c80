#pragma once
// Which parts of the instances' network nobody needs any more.
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace svc {

// One thread.
class UnusedParts {
  public:
    using Time = std::chrono::steady_clock::time_point;

    explicit UnusedParts(std::chrono::milliseconds patience) : patience_(patience) {}
    // `unused`: whose parts are of no use at this moment. Returns those for which that has been so since
    // before the patience, each time it was asked.
    std::vector<std::string> due(const std::set<std::string>& unused, Time now);

  private:
    const std::chrono::milliseconds patience_;
    std::map<std::string, Time> since_;
};

}  // namespace svc
