#include "instance-agent/streamer/display/screen_watch.h"

#include <X11/Xlib.h>
#include <X11/extensions/Xdamage.h>
#include <X11/extensions/Xfixes.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

ScreenWatch::ScreenWatch(const std::string& display, Duration poll_interval)
    : connection_(display), poll_interval_(poll_interval), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake_) throw system_error("eventfd", errno);
    Display* const x = connection_.get();
    int ignored = 0;
    if (XDamageQueryExtension(x, &damage_event_, &ignored) == 0 ||
        XFixesQueryExtension(x, &cursor_event_, &ignored) == 0) {
        log::warning("X server does not tell of changes: all frames are encoded");
        return;
    }
    damage_ = XDamageCreate(x, DefaultRootWindow(x), XDamageReportNonEmpty);
    XFixesSelectCursorInput(x, DefaultRootWindow(x), XFixesDisplayCursorNotifyMask);
    XSync(x, False);
}

ScreenWatch::~ScreenWatch() = default;

// The server reports damage once until it is subtracted. Drawing after the subtraction is reported again at
// once, so no change is lost.
bool ScreenWatch::take_change() {
    if (damage_ == 0) return true;
    read_events();
    look_at_pointer();
    if (std::exchange(damaged_, false)) {
        XDamageSubtract(connection_.get(), damage_, None, None);
        XFlush(connection_.get());
        return moved_ = false, true;
    }
    return std::exchange(moved_, false);
}

void ScreenWatch::wait(Duration longest) {
    const auto end = std::chrono::steady_clock::now() + longest;
    while (damage_ != 0) {
        read_events();
        look_at_pointer();
        if (damaged_ || moved_) return;
        const auto left = std::min(poll_interval_, end - std::chrono::steady_clock::now());
        if (left <= Duration::zero()) return;
        std::array<pollfd, 2> polled{
            {{wake_.get(), POLLIN, 0}, {ConnectionNumber(connection_.get()), POLLIN, 0}}};
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        if (poll(polled.data(), polled.size(), static_cast<int>(milliseconds)) > 0 &&
            polled[0].revents != 0) {
            std::uint64_t count = 0;
            [[maybe_unused]] const ssize_t read_bytes = read(wake_.get(), &count, sizeof(count));
            return;
        }
    }
}

void ScreenWatch::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void ScreenWatch::read_events() {
    Display* const x = connection_.get();
    while (XPending(x) > 0) {
        XEvent event{};
        XNextEvent(x, &event);
        damaged_ = damaged_ || event.type == damage_event_ + XDamageNotify;
        moved_ = moved_ || event.type == cursor_event_ + XFixesCursorNotify;
    }
}

// This request is a round trip, so all damage before it has been reported when it returns.
void ScreenWatch::look_at_pointer() {
    Display* const x = connection_.get();
    Window root = None, child = None;
    Pointer now;
    int inner_x = 0, inner_y = 0;
    unsigned buttons = 0;
    XQueryPointer(x, DefaultRootWindow(x), &root, &child, &now.x, &now.y, &inner_x, &inner_y, &buttons);
    moved_ = moved_ || now != pointer_;
    pointer_ = now;
    read_events();
}

}  // namespace svc::streamer
