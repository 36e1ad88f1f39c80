#pragma once
// How much disk the writable layers of containers take, where no quota counts it: measured by walking the
// trees, with a limit of time for each scrape.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"

namespace svc::lxc {

struct DiskUsageLimits {
    Duration keep = std::chrono::minutes(1);           // age up to which a result is used again
    Duration budget = std::chrono::milliseconds(100);  // time for all walks of one round
    std::uint64_t entries = 200'000;                   // a larger tree is not measured
};

// Bytes that the files below `folder` take. Follows no link and does not leave the file system; the guest may
// change the tree meanwhile. Nothing: the folder does not exist, or the tree is too large or too deep.
std::optional<std::uint64_t> measure_tree(const std::filesystem::path& folder, std::uint64_t max_entries);

// Thread-safe.
class DiskUsage {
  public:
    explicit DiskUsage(const Clock& clock, DiskUsageLimits limits = {}) : clock_(clock), limits_(limits) {}

    // Begins a round. Its walks share the budget; where that ends, the next round continues, so call bytes()
    // in the order of ids. A container that is not asked for in two rounds is forgotten.
    void begin_round();
    // The newest result; an older one when the budget is spent. Nothing: there is none.
    std::optional<std::uint64_t> bytes(const std::string& id, const std::filesystem::path& folder);

  private:
    struct Result {
        std::optional<std::uint64_t> bytes;
        SteadyTime measured{};
        std::uint64_t round = 0;
    };
    struct State {
        std::map<std::string, Result> results;
        std::uint64_t round = 0;
        SteadyTime round_began{};
        std::string from;   // the first id to be measured in this round
        std::string spent;  // the first id that the budget did not reach
    };
    bool is_due(State& state, const std::string& id, const Result& result) const;

    const Clock& clock_;
    const DiskUsageLimits limits_;
    Guarded<State> state_;
};

}  // namespace svc::lxc
