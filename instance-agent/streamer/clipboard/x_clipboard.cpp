// The clipboard of an X server: a window of our own that owns and reads the selection, on a thread of its
// own.
#include <X11/Xlib.h>
#include <X11/extensions/Xfixes.h>
#include <poll.h>
#include <pthread.h>

#include <array>
#include <stop_token>
#include <thread>
#include <utility>

#include "instance-agent/streamer/clipboard/selection_owner.h"
#include "instance-agent/streamer/clipboard/selection_reader.h"
#include "instance-agent/streamer/display/x_connection.h"
#include "instance-agent/streamer/threads/wake.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr int look = 50;           // milliseconds, while something is under way
constexpr int most_at_once = 256;  // events, before orders are looked at again

class XClipboard final : public Clipboard {
  public:
    XClipboard(const std::string& display, ClipboardEvents events)
        : connection_(display),
          atoms_(x()),
          window_(XCreateSimpleWindow(x(), DefaultRootWindow(x()), 0, 0, 1, 1, 0, 0, 0)),
          events_(std::move(events)),
          reader_(x(), window_, atoms_, events_.copied),
          owner_(x(), window_, atoms_) {
        XSelectInput(x(), window_, PropertyChangeMask);
        watch_owners();
        XSync(x(), False);
        thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    ~XClipboard() override {
        thread_.request_stop();
        wake_.wake();
        thread_.join();
    }
    XClipboard(const XClipboard&) = delete;
    XClipboard& operator=(const XClipboard&) = delete;

    void give(ClipboardContent content) override {
        orders_.with([&](Orders& orders) { orders.given = std::move(content); });
        wake_.wake();
    }
    void follow(bool on) override {
        orders_.with([&](Orders& orders) { orders.follow = on; });
        wake_.wake();
    }

  private:
    struct Orders {
        std::optional<ClipboardContent> given{};
        std::optional<bool> follow{};
    };

    Display* x() const { return connection_.get(); }

    void watch_owners() {
        int ignored = 0;
        if (XFixesQueryExtension(x(), &fixes_event_, &ignored) == 0)
            return log::warning(
                "X server does not tell of its clipboard: nothing can be copied from the guest");
        XFixesSelectSelectionInput(x(), window_, atoms_.clipboard, XFixesSetSelectionOwnerNotifyMask);
    }

    void run(const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "clipboard");
        while (!stop.stop_requested()) {
            take_orders();
            for (int i = 0; i < most_at_once && XPending(x()) > 0; ++i) take_event();
            const auto now = std::chrono::steady_clock::now();
            reader_.tick(now);
            owner_.tick(now);
            XFlush(x());
            wait();
        }
    }

    void wait() {
        std::array<pollfd, 2> polled{{{wake_.fd(), POLLIN, 0}, {ConnectionNumber(x()), POLLIN, 0}}};
        const bool busy = owner_.is_busy() || (following_ && reader_.is_busy());
        const int idle = busy ? look : -1;
        poll(polled.data(), polled.size(), XEventsQueued(x(), QueuedAlready) > 0 ? 0 : idle);
        wake_.drain();
    }

    void take_orders() {
        Orders orders = orders_.with([](Orders& all) { return std::exchange(all, {}); });
        if (orders.given && owner_.own(std::move(*orders.given))) events_.given();
        if (!orders.follow || *orders.follow == following_) return;
        following_ = *orders.follow;
        if (!following_) return reader_.forget();
        const Window owner = XGetSelectionOwner(x(), atoms_.clipboard);
        if (owner != None && owner != window_) reader_.changed();
    }

    void take_event() {
        XEvent event{};
        XNextEvent(x(), &event);
        if (event.type == fixes_event_ + XFixesSelectionNotify)
            return owner_changed(reinterpret_cast<const XFixesSelectionNotifyEvent&>(event));
        switch (event.type) {
            case SelectionNotify:
                return reader_.answered(event.xselection);
            case SelectionRequest:
                return owner_.asked(event.xselectionrequest);
            case SelectionClear:
                return owner_.lost(event.xselectionclear);
            case PropertyNotify:
                if (event.xproperty.window == window_) return reader_.property_changed(event.xproperty);
                return owner_.property_changed(event.xproperty);
            case DestroyNotify:
                return owner_.window_gone(event.xdestroywindow.window);
            default:
                return;
        }
    }

    void owner_changed(const XFixesSelectionNotifyEvent& event) {
        if (following_ && event.owner != None && event.owner != window_) reader_.changed();
    }

    XConnection connection_;
    const SelectionAtoms atoms_;
    const Window window_;
    ClipboardEvents events_;
    SelectionReader reader_;
    SelectionOwner owner_;
    int fixes_event_ = -XFixesSelectionNotify - 1;  // no event has this number
    bool following_ = false;
    Wake wake_;
    Guarded<Orders> orders_;
    std::jthread thread_;  // last: uses all others
};

}  // namespace

std::unique_ptr<Clipboard> make_x_clipboard(const std::string& display, ClipboardEvents events) {
    return std::make_unique<XClipboard>(display, std::move(events));
}

}  // namespace svc::streamer
