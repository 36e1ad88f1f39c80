#pragma once
// Whether what an X server shows has changed.
#include <atomic>
#include <chrono>
#include <string>

#include "instance-agent/streamer/display/x_connection.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

// One thread, but wake(). What programs draw is told by the server (XDamage); its pointer, which is part of
// the picture, is asked for.
class ScreenWatch {
  public:
    using Duration = std::chrono::steady_clock::duration;
    // Throws unavailable. `poll_interval`: how often the pointer is asked for while one waits.
    ScreenWatch(const std::string& display, Duration poll_interval);
    ~ScreenWatch();
    ScreenWatch(const ScreenWatch&) = delete;
    ScreenWatch& operator=(const ScreenWatch&) = delete;

    // Since the call before; the first time, and with a server that cannot tell, always.
    bool take_change();
    // Until something has changed - take_change() tells it still -, wake() was called, or the time is over.
    void wait(Duration longest);
    void wake();  // any thread; what waits next returns at once

  private:
    struct Pointer {
        int x = -1, y = -1;
        unsigned long cursor = 0;
        bool operator==(const Pointer&) const = default;
    };
    void read_events();
    void look_at_pointer();

    XConnection connection_;
    Duration poll_interval_;
    FileDescriptor wake_;
    unsigned long damage_ = 0;  // none: the server cannot tell
    int damage_event_ = 0, cursor_event_ = 0;
    bool damaged_ = true, moved_ = true;
    Pointer pointer_;
};

}  // namespace svc::streamer
