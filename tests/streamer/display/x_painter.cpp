#include "tests/streamer/display/x_painter.h"

#include <X11/Xlib.h>

#include <stdexcept>
#include <vector>

namespace svc::test {

XPainter::XPainter(const std::string& display, int width, int height)
    : display_(XOpenDisplay(display.c_str())), width_(width), height_(height) {
    if (display_ == nullptr) throw std::runtime_error("no display");
    XSetWindowAttributes attributes{};
    attributes.override_redirect = True;
    const auto side = [](int pixels) { return static_cast<unsigned>(pixels); };
    window_ = XCreateWindow(display_, DefaultRootWindow(display_), 0, 0, side(width), side(height), 0,
                            CopyFromParent, InputOutput, CopyFromParent, CWOverrideRedirect, &attributes);
    XSelectInput(display_, window_, StructureNotifyMask);
    XMapRaised(display_, window_);
    XEvent event{};
    do XNextEvent(display_, &event);
    while (event.type != MapNotify);
}

XPainter::~XPainter() {
    XCloseDisplay(display_);
}

void XPainter::fill(Colour colour, int x, int y, int width, int height) {
    const GC context = DefaultGC(display_, DefaultScreen(display_));
    XSetForeground(display_, context, colour[0] << 16U | colour[1] << 8U | colour[2]);
    XFillRectangle(display_, window_, context, x, y, static_cast<unsigned>(width),
                   static_cast<unsigned>(height));
    XSync(display_, False);
}

void XPainter::write_page(unsigned number) {
    const GC context = DefaultGC(display_, DefaultScreen(display_));
    std::vector<XSegment> strokes;
    const auto at = [](int pixels) { return static_cast<short>(pixels); };
    unsigned seed = number * 7919U + 1U;
    for (int y = 8; y + 12 < height_; y += 16)
        for (int x = 8; x + 8 < width_; x += 8) {
            seed = seed * 1103515245U + 12345U;
            const int slant = static_cast<int>(seed >> 16U) % 7;
            strokes.push_back({at(x), at(y), at(x + slant), at(y + 10)});
        }
    XSetForeground(display_, context, 0xfafafa);
    XFillRectangle(display_, window_, context, 0, 0, static_cast<unsigned>(width_),
                   static_cast<unsigned>(height_));
    XSetForeground(display_, context, 0x202020);
    XDrawSegments(display_, window_, context, strokes.data(), static_cast<int>(strokes.size()));
    XSync(display_, False);
}

void XPainter::warp_pointer(int x, int y) {
    XWarpPointer(display_, None, DefaultRootWindow(display_), 0, 0, 0, 0, x, y);
    XSync(display_, False);
}

}  // namespace svc::test
