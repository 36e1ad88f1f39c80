#include "instance-agent/streamer/display/x_connection.h"

#include <X11/Xlib.h>

#include <mutex>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

int log_refusal(Display* display, XErrorEvent* event) {
    char text[128] = "";
    XGetErrorText(display, event->error_code, text, sizeof(text));
    log::warning("X server refused a request", {{"error", text},
                                                {"request", std::to_string(event->request_code) + "." +
                                                                std::to_string(event->minor_code)}});
    return 0;
}

// Xlib's error handlers are global, so they are set once.
void set_up_xlib() {
    static std::once_flag once;
    std::call_once(once, [] {
        XInitThreads();
        XSetErrorHandler(log_refusal);
    });
}

}  // namespace

XConnection::XConnection(const std::string& display)
    : display_((set_up_xlib(), XOpenDisplay(display.c_str()))) {
    if (display_ == nullptr)
        throw Error(ErrorCode::unavailable, "X display " + quoted(display) + " cannot be reached");
}

XConnection::~XConnection() {
    XCloseDisplay(display_);
}

}  // namespace svc::streamer
