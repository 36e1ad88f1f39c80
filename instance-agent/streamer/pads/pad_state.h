#pragma once
// What a gamepad has and what is pressed on it, in a file that programs read when they ask the device.
#include <linux/input.h>

#include <filesystem>

#include "instance-agent/gamepad/pad_wire.h"
#include "instance-agent/streamer/input/virtual_device.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

// One thread.
class PadState {
  public:
    PadState(const DeviceAbilities& abilities, const std::filesystem::path& file);  // throws Error
    // False: nothing changes by that, or the gamepad has no such button or axis. The file has it after
    // store().
    bool apply(const input_event& event);
    void set_grabbed(bool grabbed) { description_.grabbed = grabbed ? 1 : 0; }
    void store() const;

  private:
    pad_description description_{};
    FileDescriptor file_;
};

}  // namespace svc::streamer
