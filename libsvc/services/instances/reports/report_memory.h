#pragma once
// What is remembered of the reports of instances from one to the next.
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

// Thread-safe.
class ReportMemory {
  public:
    explicit ReportMemory(const Clock& clock) : clock_(clock) {}
    // False: the instance sent too many reports lately. Twenty may come at once, then one every five seconds.
    // The first of many refused reports is logged.
    bool admit(std::string_view instance);
    // Whether the last report of the instance had another status.
    bool is_news(std::string_view instance, std::string_view status);
    // Forgets every instance for which `is_there` is false. Called periodically, because a report may arrive
    // while its instance is being removed.
    void forget_all_but(const std::function<bool(std::string_view instance)>& is_there);

  private:
    struct Voice {
        SteadyTime free_at{};  // end of the time that the admitted reports use up
        bool refused = false;  // a report was refused, and that was logged
        std::string status{};
    };
    Voice& voice(std::string_view instance);

    const Clock& clock_;
    std::mutex mutex_;
    std::map<std::string, Voice, std::less<>> voices_;
};

}  // namespace svc
