#pragma once
// The display of a guest without X (docs/guest-display.md): a program of the guest draws it and gets the
// client's input.
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "instance-agent/streamer/guest_display/frame_feed.h"
#include "instance-agent/streamer/threads/wake.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

struct DisplayMode {
    int width = 1280, height = 720;  // pixels
    int density = 160;               // dots per inch
    int fps = 60;                    // frames a second
    bool operator==(const DisplayMode&) const = default;
};

// Thread-safe. The constructor makes the socket and replaces an older one; the destructor removes it. One
// program draws at a time; another one is refused. The display stays when it goes, and shows its last frame.
class GuestDisplay {
  public:
    GuestDisplay(const std::string& path, DisplayMode mode);  // throws Error
    ~GuestDisplay();
    GuestDisplay(const GuestDisplay&) = delete;
    GuestDisplay& operator=(const GuestDisplay&) = delete;

    void set_size(int width, int height);
    void set_density(int density);
    DisplayMode mode() const;
    // A packet of libsvcguest/display_wire.h about input. Dropped where no program draws.
    void send(std::string packet);
    // While somebody watches, the program is told so; see FrameFeed.
    int watch(FrameFeed::Sink sink);
    void unwatch(int watcher);

  private:
    class Loop;
    struct Orders {  // for the thread that has the socket
        DisplayMode mode{};
        std::deque<std::string> packets{};  // with the changes of the mode in their order: "" for each
        bool has_program = false;
        void change_mode();
    };
    template <class Change>
    void order(Change change);
    FrameFeed feed_;
    Guarded<Orders> orders_;
    Wake wake_;
    std::unique_ptr<Loop> loop_;
    std::jthread thread_;
};

// Watches a display as long as it exists.
class FrameWatch {
  public:
    FrameWatch(std::shared_ptr<GuestDisplay> display, FrameFeed::Sink sink)
        : display_(std::move(display)), watcher_(display_->watch(std::move(sink))) {}
    ~FrameWatch() { display_->unwatch(watcher_); }
    FrameWatch(const FrameWatch&) = delete;
    FrameWatch& operator=(const FrameWatch&) = delete;

  private:
    std::shared_ptr<GuestDisplay> display_;
    int watcher_;
};

}  // namespace svc::streamer
