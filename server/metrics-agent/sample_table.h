#pragma once
// Keeps the newest sample of every stream for some minutes.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/formats/line_protocol.h"
#include "server/metrics-agent/stream_metrics.h"

namespace svc::metrics_agent {

struct SampleLimits {
    std::size_t streams = 10'000;             // sets of labels
    std::size_t streams_per_source = 256;     // of one sender's address, so that it leaves room for others
    Duration keep = std::chrono::minutes(5);  // a series without a sample for so long is removed
};

enum class Verdict { taken, unknown, too_many };

// Thread-safe.
class SampleTable {
  public:
    SampleTable(const Clock& clock, SampleLimits limits) : clock_(clock), limits_(limits) {}

    // `unknown`: a measurement or field that is not in the table of metrics, or a label that is reserved by
    // Prometheus.
    Verdict add(const LineSample& sample, std::string_view source);
    void render(std::string& out);  // in the text format; removes old series first
    std::size_t streams();          // streams with a sample that is not too old

  private:
    struct Cell {
        double value = 0;
        std::optional<SteadyTime> at;  // none: no sample yet
    };
    using Cells = std::array<Cell, stream_metrics.size()>;
    struct Stream {
        std::string source;
        Cells cells;
    };
    struct State {
        std::map<std::string, Stream, std::less<>> streams;  // by rendered labels
        std::map<std::string, std::size_t, std::less<>> of_source;
        SteadyTime swept{};
    };
    bool is_over(const Cell& cell, SteadyTime now) const;
    void sweep(State& state, SteadyTime now) const;
    Stream* find_or_add(State& state, const std::string& labels, std::string_view source,
                        SteadyTime now) const;

    const Clock& clock_;
    const SampleLimits limits_;
    Guarded<State> state_;
};

}  // namespace svc::metrics_agent
