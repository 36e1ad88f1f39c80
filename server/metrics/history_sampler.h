#pragma once
// Takes the samples of the metrics history: counts launches as they happen, and looks at the records and
// counters when a sample is due.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/base/interned.h"
#include "libsvc/base/metrics.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "server/http/request_counts.h"
#include "server/metrics/metrics_history.h"

namespace svc::server {

struct HistorySamplerParts {
    const NodeService& nodes;
    const InstanceService& instances;
    const Engine& engine;
    EventBus& events;
    const RequestCounts& requests;
    const Clock& clock;
};

// Thread-safe, but for take(), which one thread calls at each interval.
class HistorySampler {
  public:
    explicit HistorySampler(HistorySamplerParts parts);

    // A guest on that node has come up, so long after its start was requested.
    void started(const Interned<std::string>& node, double seconds);
    HistorySample take();                                  // counts begin anew
    static constexpr std::size_t most_durations = 20'000;  // of an interval; launches beyond are only counted

  private:
    struct Starts {
        std::uint32_t count = 0;
        double seconds = 0;
    };
    struct Launches {  // since the last sample
        std::uint32_t begun = 0, succeeded = 0, failed = 0;
        std::vector<float> durations{};
        std::map<std::string, Starts, std::less<>> by_node{};
    };
    void count(const std::string& operation_event);
    void add_launches(HistorySample& sample);
    void add_records(HistorySample& sample) const;
    void add_requests(HistorySample& sample);

    const HistorySamplerParts parts_;
    Guarded<Launches> launches_;
    RequestTotals last_requests_;
    std::unique_ptr<EventBus::Handle> subscription_;  // last: its calls use the rest
};

}  // namespace svc::server
