#pragma once
// The configured management services, and the choice of one of them for a session.
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/streaming/regions/management.h"
#include "libsvc/streaming/regions/region.h"

namespace svc {

struct RegionCounts {
    int active = 0, unresponsive = 0;
};

// Thread-safe.
class Regions {
  public:
    // The application of a session, and the region if the caller named one.
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

    std::vector<std::string> names() const;  // names of the regions that answer
    // The applications of all regions that answer, each once, sorted by name. An application streams when it
    // does in one of them.
    std::vector<Offer> applications() const;
    RegionCounts counts() const;
    bool answers(std::string_view region) const;
    bool all_asked() const;  // each has answered, or failed to; false for a moment after the start
    // The region had no room for a launch. For 5 seconds it is chosen only if there is no other.
    void note_refusal(std::string_view region);
    // A region that answers and has the application as one that streams, not one of the `refused`: the one
    // with the fewest sessions per CPU, a random one among equals. `sessions(region)` returns how many
    // sessions it has. Throws invalid_argument for an application that no region knows or that streams
    // nowhere, not_found "No agent available to host the session" otherwise.
    std::string choose(const Wish& wish,
                       const std::function<std::size_t(const std::string& region)>& sessions,
                       const std::set<std::string>& refused = {}) const;
    // Throws not_found for a region that is not configured.
    Management& management(std::string_view region) const;

  private:
    struct Candidate;
    const Region* find(std::string_view name) const;  // null when it is not configured
    std::vector<Candidate> candidates(const Wish& wish) const;
    const Region& best(std::vector<Candidate> candidates) const;

    std::vector<std::unique_ptr<Region>> regions_;  // by name
    mutable Guarded<std::minstd_rand> chance_{std::minstd_rand(std::random_device()())};
};

}  // namespace svc
