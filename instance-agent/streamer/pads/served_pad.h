#pragma once
// One gamepad and the programs that have opened it.
#include <poll.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "instance-agent/streamer/pads/pad_listener.h"
#include "instance-agent/streamer/pads/pad_name.h"
#include "instance-agent/streamer/pads/pad_state.h"

namespace svc::streamer {

// One thread at a time. Nothing waits. To its programs the gamepad has gone when it is destroyed.
class ServedPad {
  public:
    static constexpr std::size_t most_listeners = 32;  // one more is disconnected at once

    ServedPad(const DeviceAbilities& abilities, const std::filesystem::path& folder);  // throws Error
    // Sends what changes by it to the programs that are connected now. True: what await() tells has changed.
    bool report(PadEvents events);
    void serve();  // takes new programs, and what programs have written
    void await(std::vector<pollfd>& polled) const;

  private:
    bool accept();  // true: a program came
    bool has_lost_events() const;
    void grab(PadListener* listener, bool wanted);

    PadName name_;
    PadState state_;
    std::vector<std::unique_ptr<PadListener>> listeners_;
    PadListener* grabbed_by_ = nullptr;
};

}  // namespace svc::streamer
