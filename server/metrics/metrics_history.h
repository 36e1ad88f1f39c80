#pragma once
// The figures of the last hour, a sample every ten seconds: what the console draws (GET
// /1.0/metrics/history).
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/base/interned.h"
#include "libsvc/base/json.h"

namespace svc::server {

// What there is of a resource, and what is reserved of it: CPUs after the allocation rate, bytes, slots.
struct HistoryAmount {
    double total = 0, used = 0;
};

// Of the launches that have ended within one interval, in seconds; nothing without such launches.
struct HistoryDurations {
    std::optional<double> p50{}, p95{};
};

struct NodeSample {
    Interned<std::string> name{};
    std::uint32_t instances = 0;
    std::uint32_t launches = 0;          // that have brought a guest up within the interval
    float launch_seconds = 0;            // all of these together
    float cpus = 0;                      // reserved
    std::uint64_t memory = 0, disk = 0;  // bytes, reserved
    std::uint32_t gpu_slots = 0;
};

// Counts are those of the interval that ends at `time`; the rest is as it is at `time`.
struct HistorySample {
    static constexpr std::array statuses{"error",   "created", "prepared", "started",
                                         "running", "paused",  "stopped"};
    std::int64_t time = 0;                                   // seconds since 1970
    std::array<std::uint32_t, statuses.size()> instances{};  // a paused one counts as paused alone
    HistoryAmount cpus{}, memory{}, gpu_slots{};             // of the nodes that are online
    std::uint32_t nodes = 0, nodes_online = 0;
    std::uint32_t launches_begun = 0, launches_succeeded = 0, launches_failed = 0;
    HistoryDurations launch_durations{};
    std::uint32_t requests = 0, requests_refused = 0, requests_failed = 0;
    std::uint32_t operations_running = 0, operations_queued = 0;
    std::vector<NodeSample> of_nodes{};  // of `most_nodes` at most, in the order of their names
};

struct HistoryQuery {
    std::int64_t since = 0;  // samples after this time; seconds since 1970
    std::size_t nodes = 20;  // how many nodes are summed up, the slowest ones first
    std::string node{};      // "": the figures of no single node
};

// Thread-safe. About 5 MB at most, with `most_nodes` nodes; 100 kB with a few.
class MetricsHistory {
  public:
    static constexpr std::chrono::seconds interval{10};
    static constexpr std::size_t kept = 360;
    static constexpr std::size_t most_nodes = 256;

    bool empty() const;
    void add(HistorySample sample);  // the oldest one goes
    Json read(const HistoryQuery& query) const;

  private:
    using Samples = std::deque<std::shared_ptr<const HistorySample>>;
    Guarded<Samples> samples_;
};

}  // namespace svc::server
