#pragma once
// Detects changes of what an X server shows.
#include <atomic>
#include <chrono>
#include <string>

#include "instance-agent/streamer/display/x_connection.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

// One thread, except wake(). Drawing is reported by the server (XDamage); the pointer, which is part of the
// picture, is polled.
class ScreenWatch {
  public:
    using Duration = std::chrono::steady_clock::duration;
    // Throws unavailable. `poll_interval`: how often wait() polls the pointer.
    ScreenWatch(const std::string& display, Duration poll_interval);
    ~ScreenWatch();
    ScreenWatch(const ScreenWatch&) = delete;
    ScreenWatch& operator=(const ScreenWatch&) = delete;

    // Whether anything changed since the last call. True at the first call, and always with a server without
    // XDamage.
    bool take_change();
    // Waits until something has changed (take_change() still returns it), wake() was called, or `longest` has
    // passed.
    void wait(Duration longest);
    void wake();  // any thread; the present or next wait() returns at once

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
    unsigned long damage_ = 0;  // 0: the server has no XDamage
    int damage_event_ = 0, cursor_event_ = 0;
    bool damaged_ = true, moved_ = true;
    Pointer pointer_;
};

}  // namespace svc::streamer
