#pragma once
// Where the instance is right now.
#include <filesystem>
#include <optional>

#include "instance-agent/agent/devices/location/fix.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// Thread-safe.
class FixSource {
  public:
    // `static_position`: the place before any update, as long as the file has one.
    FixSource(Clock& clock, std::filesystem::path static_position, bool enabled);

    bool enabled() const;
    void enable(bool on);
    void update(const Fix& fix);  // throws invalid_argument unless enabled

    // What is to be repeated now: the last update, while it is enabled, with the time that has passed added;
    // the static place before any.
    std::optional<Fix> current();
    std::optional<Fix> last_known();  // the same; when disabled the last update as it was

  private:
    struct State {
        bool enabled = false;
        bool repeated = false;  // the last update came since the last switch
        std::optional<Fix> last;
        SteadyTime updated{};
        std::optional<Fix> resting;  // what the file says
        std::optional<SteadyTime> looked;
    };
    std::optional<Fix> advanced(const State& state) const;
    std::optional<Fix> static_fix(State& state) const;

    Clock& clock_;
    const std::filesystem::path static_position_;
    Guarded<State> state_;
};

}  // namespace svc::agent
