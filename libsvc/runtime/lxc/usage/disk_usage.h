#pragma once
// How much disk the writable layers of containers take, where no quota counts it: found by walking, seldom.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"

namespace svc::lxc {

struct DiskUsageLimits {
    Duration keep = std::chrono::minutes(1);           // a result is good for so long
    Duration budget = std::chrono::milliseconds(100);  // of one round of walks
    std::uint64_t entries = 200'000;                   // a larger tree is not measured
};

// Bytes that the files below `folder` take. Follows no link and does not leave the file system; a guest may
// change the tree meanwhile. Nothing when it is not there, too large or too deep.
std::optional<std::uint64_t> measure_tree(const std::filesystem::path& folder, std::uint64_t max_entries);

// Thread-safe.
class DiskUsage {
  public:
    explicit DiskUsage(const Clock& clock, DiskUsageLimits limits = {}) : clock_(clock), limits_(limits) {}

    // A round begins; trees measured in it share its budget. Where that ends, the next round goes on, so ask
    // in the order of ids. What is not asked for in two rounds is forgotten.
    void begin_round();
    // The newest result, which is old when the budget is spent; nothing when there is none.
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
        std::string from;   // the first id whose turn it is
        std::string spent;  // the first one that the budget did not reach
    };
    bool is_due(State& state, const std::string& id, const Result& result) const;

    const Clock& clock_;
    const DiskUsageLimits limits_;
    Guarded<State> state_;
};

}  // namespace svc::lxc
