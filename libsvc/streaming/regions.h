#pragma once
// Regions: the configured management services. Of each, one thread asks it every few seconds and one follows
// its events.
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/management.h"

namespace svc {

// What happens in regions. Called on a region's thread; may block for as long as its own region is asked.
class RegionEvents {
  public:
    virtual ~RegionEvents() = default;
    virtual void region_answers(const std::string& region) = 0;  // again, or for the first time: resync
    virtual void instance_changed(const std::string& region, const std::string& instance_id) = 0;
};

struct RegionCounts {
    int active = 0, unresponsive = 0;
};

// Thread-safe.
class Regions {
  public:
    struct Member {
        std::string name;
        std::unique_ptr<Management> management;
    };
    Regions(std::vector<Member> members, Clock& clock, Duration interval = std::chrono::seconds(5));
    ~Regions();                        // stops the threads
    void start(RegionEvents& events);  // once; events outlive stop()
    void stop();

    std::vector<std::string> names() const;         // of those that answer
    std::vector<std::string> applications() const;  // of all that answer: sorted, without doubles
    RegionCounts counts() const;
    bool answers(std::string_view region) const;
    bool all_asked() const;  // each has answered, or failed to; false for a moment after the start
    // It had no room for a launch. For 5 seconds it is chosen only if there is no other.
    void note_refusal(std::string_view region);
    // A region that answers and lists the application, least loaded first: `sessions(region)` tells how many
    // sessions it has; their number per CPU counts, and chance among equals. `wanted` "": any that is not
    // among `refused`. Throws invalid_argument for an application no region knows, not_found "No agent
    // available to host the session" otherwise.
    std::string choose(std::string_view app, std::string_view wanted,
                       const std::function<std::size_t(const std::string& region)>& sessions,
                       const std::set<std::string>& refused = {}) const;
    // Throws not_found for a region that is not configured.
    Management& management(std::string_view region) const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
