#pragma once
// Records what the agent and its guests do, while somebody wants to know.
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

// Thread-safe. Costs one load while it is off. The agent's own events belong to the thread they come from.
class Tracer {
  public:
    static constexpr std::size_t default_capacity = 32U << 20;  // bytes; older events give way
    static constexpr std::size_t max_tracks = 4096;             // what comes from more shares one

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

    // An event of a guest: on a track of its own, that is named at its first event. `event.track` is ignored.
    void guest_event(std::uint64_t guest, const std::function<std::string()>& track_name, TraceEvent event);

    bool start();  // false: it is active already
    // Ends the recording and hands it over in pieces that make up the file; nobody waits for `write`. When
    // that throws, the recording goes on, unless another was started meanwhile. False: it was not active.
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

// A slice as long as it lives.
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
