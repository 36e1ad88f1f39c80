#pragma once
// One region: a configured management service, what it answered last, and the threads that ask it.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/streaming/regions/management.h"

namespace svc {

// Told what happens in regions. Called on a region's thread; may block for as long as its own region is
// asked.
class RegionEvents {
  public:
    virtual ~RegionEvents() = default;
    // The region answers, for the first time or again: compare its instances with the sessions.
    virtual void region_answers(const std::string& region) = 0;
    virtual void instance_changed(const std::string& region, const std::string& instance_id) = 0;
};

// The pause before the next attempt: 1, 2, 4 ... 30 s. Not thread-safe.
class RegionBackoff {
  public:
    void reset() { next_ = first_pause; }
    Duration next() {
        const Duration now = next_;
        next_ = std::min<Duration>(next_ * 2, longest_pause);
        return now;
    }

  private:
    static constexpr std::chrono::seconds first_pause{1};
    static constexpr std::chrono::seconds longest_pause{30};
    Duration next_ = first_pause;
};

// The last answers of a region.
struct RegionKnowledge {
    std::optional<SteadyTime> answered;  // nothing: never
    bool failing = false;                // the last request failed
    std::optional<SteadyTime> refused;   // when the region refused a launch last
    std::shared_ptr<const std::vector<StreamApplication>> applications;  // null pointer: not known
    int cpus = 0;

    const StreamApplication* application(std::string_view name) const {
        if (!applications) return nullptr;
        const auto found = std::ranges::find(*applications, name, &StreamApplication::name);
        return found == applications->end() ? nullptr : &*found;
    }
};

// Thread-safe. One management service and its two threads: one requests applications and load at an interval,
// one follows its events. Both end with the object.
class Region {
  public:
    Region(std::string name, std::unique_ptr<Management> management, Clock& clock, Duration interval);

    void start(RegionEvents& events);  // once; events outlive stop()
    void request_stop();
    void stop() { threads_.clear(); }

    const std::string& name() const { return name_; }
    Management& management() const { return *management_; }
    RegionKnowledge knowledge() const {
        return knowledge_.with([](const RegionKnowledge& known) { return known; });
    }
    bool answers(const RegionKnowledge& known) const;  // in the last 15 s
    void note_refusal();                               // remembers that the region has refused a launch
    bool has_just_refused(const RegionKnowledge& known) const;

  private:
    void ask_on(const std::stop_token& stop);
    bool ask();  // false: no answer
    void note_answer(std::vector<StreamApplication> applications, int cpus);
    void note_failure(const std::exception& reason);
    void follow_on(const std::stop_token& stop);
    void follow(const std::stop_token& stop, RegionBackoff& backoff);
    void tell(const std::function<void()>& call);

    const std::string name_;
    const std::unique_ptr<Management> management_;
    Clock& clock_;
    const Duration interval_;
    RegionEvents* events_ = nullptr;
    Guarded<RegionKnowledge> knowledge_;
    std::mutex telling_;
    std::vector<std::jthread> threads_;  // last: end before the rest goes
};

}  // namespace svc
