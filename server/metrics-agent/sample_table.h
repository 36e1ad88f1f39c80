#pragma once
// The newest sample of every stream, for a while.
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
    std::size_t streams_per_source = 256;     // of one sender's address: it cannot crowd the others out
    Duration keep = std::chrono::minutes(5);  // a series goes when so long nothing came
};

enum class Verdict { taken, unknown, too_many };

// Thread-safe.
class SampleTable {
  public:
    SampleTable(const Clock& clock, SampleLimits limits) : clock_(clock), limits_(limits) {}

    // `unknown`: no measurement or field that is shown, or a label that Prometheus has for itself.
    Verdict add(const LineSample& sample, std::string_view source);
    void render(std::string& out);  // in the text format; drops what is over
    std::size_t streams();          // that are not over

  private:
    struct Cell {
        double value = 0;
        std::optional<SteadyTime> at;  // none: nothing came
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
