#pragma once
// The present position of the instance: the last update, or the static position of a file.
#include <filesystem>
#include <optional>

#include "instance-agent/agent/devices/location/fix.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// Thread-safe.
class FixSource {
  public:
    // `static_position`: the file with the position before the first update; may be absent.
    FixSource(Clock& clock, std::filesystem::path static_position, bool enabled);

    bool enabled() const;
    void enable(bool on);
    void update(const Fix& fix);  // throws invalid_argument unless enabled

    // The fix to repeat now: while enabled, the last update with its time moved on by the time that has
    // passed; before the first update the static position.
    std::optional<Fix> current();
    std::optional<Fix> last_known();  // the same; when disabled, the last update as it was

  private:
    struct State {
        bool enabled = false;
        bool repeated = false;  // the last update came after the device was last enabled
        std::optional<Fix> last;
        SteadyTime updated{};
        std::optional<Fix> resting;  // the static position of the file
        std::optional<SteadyTime> looked;
    };
    std::optional<Fix> advanced(const State& state) const;
    std::optional<Fix> static_fix(State& state) const;

    Clock& clock_;
    const std::filesystem::path static_position_;
    Guarded<State> state_;
};

}  // namespace svc::agent
