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
    // False: too many have come of late. Twenty may come at once, then one every five seconds. The first of
    // many that are refused is logged.
    bool admit(std::string_view instance);
    // Whether the last report of the instance had another status.
    bool is_news(std::string_view instance, std::string_view status);
    // Of the others: a report may come in while its instance is removed, so this is asked now and then.
    void forget_all_but(const std::function<bool(std::string_view instance)>& is_there);

  private:
    struct Voice {
        SteadyTime free_at{};  // when all that was admitted has had its time
        bool refused = false;  // and it was logged
        std::string status{};
    };
    Voice& voice(std::string_view instance);

    const Clock& clock_;
    std::mutex mutex_;
    std::map<std::string, Voice, std::less<>> voices_;
};

}  // namespace svc
