#pragma once
// Records events of the agent and of guests while tracing is on.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instance-agent/agent/devices/tracing/trace_events.h"
#include "instance-agent/agent/devices/tracing/trace_ring.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// Thread-safe. Costs one atomic load while it is off. An event of the agent is on the track of its thread.
class Tracer {
  public:
    static constexpr std::size_t default_capacity = 32U << 20;  // bytes; the oldest events are dropped
    static constexpr std::size_t max_tracks = 4096;             // events beyond it share one track

    explicit Tracer(std::size_t capacity = default_capacity) : capacity_(capacity) {}

    bool active() const noexcept { return active_.load(std::memory_order_relaxed); }

    void begin(std::string_view category, std::string_view name) {
        note(TracePhase::begin, category, name, 0);
    }
    void end() { note(TracePhase::end, {}, {}, 0); }
    void instant(std::string_view category, std::string_view name) {
        note(TracePhase::instant, category, name, 0);
    }
    void count(std::string_view category, std::string_view name, std::int64_t value) {
        note(TracePhase::counter, category, name, value);
    }

    // Records an event of a guest, on a track of that guest. The first event names the track. `event.track`
    // is ignored.
    void guest_event(std::uint64_t guest, const std::function<std::string()>& track_name, TraceEvent event);

    bool start();  // false: tracing was on already
    // Ends the recording and passes `write` the pieces of the file; tracing does not block other threads
    // meanwhile. When `write` throws, the recording goes on, unless another one was started. False: tracing
    // was off.
    bool stop(const std::function<void(const std::vector<std::string_view>& pieces)>& write);

  private:
    struct Recording {
        explicit Recording(std::size_t capacity) : ring(capacity) {}
        TraceRing ring;
        std::map<std::uint64_t, std::string> tracks;  // by id: the packet that describes it
    };
    using Describe = std::function<std::string(std::uint64_t id, std::uint64_t parent)>;

    void note(TracePhase phase, std::string_view category, std::string_view name, std::int64_t value);
    void record(std::uint64_t track, const Describe& describe, TraceEvent event);
    void resume(std::unique_ptr<Recording> taken);

    const std::size_t capacity_;
    std::atomic<bool> active_{false};
    Guarded<std::unique_ptr<Recording>> recording_;
};

// A slice of the trace from construction to destruction.
class TraceSlice {
  public:
    TraceSlice(Tracer& tracer, std::string_view category, std::string_view name)
        : tracer_(tracer.active() ? &tracer : nullptr) {
        if (tracer_) tracer_->begin(category, name);
    }
    ~TraceSlice() {
        if (tracer_) tracer_->end();
    }
    TraceSlice(const TraceSlice&) = delete;
    TraceSlice& operator=(const TraceSlice&) = delete;

  private:
    Tracer* tracer_;
};

}  // namespace svc::agent
