#pragma once
// Regions: the configured management services. Of each, one thread asks it every few seconds and one follows
// its events.
#include <functional>
#include <memory>
#include <optional>
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
    // What a session is wanted of, and where.
    struct Wish {
        std::string_view app;
        std::optional<int> version = {};  // nothing: the last published one
        std::string_view region = "";     // "": any
    };
    struct Offer {
        std::string name;
        bool streams = false;
    };
    struct Member {
        std::string name;
        std::unique_ptr<Management> management;
    };
    Regions(std::vector<Member> members, Clock& clock, Duration interval = std::chrono::seconds(5));
    ~Regions();                        // stops the threads
    void start(RegionEvents& events);  // once; events outlive stop()
    void stop();

    std::vector<std::string> names() const;  // of those that answer
    // Of all that answer: sorted by name, each once. One streams that does in any of them.
    std::vector<Offer> applications() const;
    RegionCounts counts() const;
    bool answers(std::string_view region) const;
    bool all_asked() const;  // each has answered, or failed to; false for a moment after the start
    // It had no room for a launch. For 5 seconds it is chosen only if there is no other.
    void note_refusal(std::string_view region);
    // A region that answers and has an application that streams, least loaded first: `sessions(region)` tells
    // how many sessions it has; their number per CPU counts, and chance among equals. None of the `refused`.
    // Throws invalid_argument for an application that no region knows or that streams nowhere, not_found "No
    // agent available to host the session" otherwise.
    std::string choose(const Wish& wish,
                       const std::function<std::size_t(const std::string& region)>& sessions,
                       const std::set<std::string>& refused = {}) const;
    // Throws not_found for a region that is not configured.
    Management& management(std::string_view region) const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
