#pragma once
// Gamepads for a guest without /dev/uinput: names in a folder of devices, which programs open by the library
// libsvcgamepad (docs/gamepad.md).
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "instance-agent/streamer/input/virtual_device.h"
#include "instance-agent/streamer/pads/served_pad.h"
#include "instance-agent/streamer/threads/wake.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe. A thread of its own takes programs; events are sent by the thread that has them, without
// waiting for a program.
class PadServer {
  public:
    // Makes the folder when it is absent, and removes what a streamer that was killed has left there. Throws
    // Error.
    explicit PadServer(std::filesystem::path folder);
    ~PadServer();
    PadServer(const PadServer&) = delete;
    PadServer& operator=(const PadServer&) = delete;

    int plug(const DeviceAbilities& abilities);  // which gamepad that is; throws Error
    void unplug(int pad);
    void report(int pad, PadEvents events);

  private:
    struct Pads {
        int last = 0;
        std::map<int, std::unique_ptr<ServedPad>> plugged{};
    };
    void run(const std::stop_token& stop);

    std::filesystem::path folder_;
    Guarded<Pads> pads_;
    Wake wake_;
    std::jthread thread_;
};

// Throws what PadServer does; the devices keep it.
DeviceMaker served_pads(const std::filesystem::path& folder);

}  // namespace svc::streamer
