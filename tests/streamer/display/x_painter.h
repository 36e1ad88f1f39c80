#pragma once
// A program that draws on an X server: it fills the screen.
#include <array>
#include <cstdint>
#include <string>

struct _XDisplay;

namespace svc::test {

class XPainter {
  public:
    using Colour = std::array<std::uint8_t, 3>;
    XPainter(const std::string& display, int width, int height);
    ~XPainter();
    XPainter(const XPainter&) = delete;
    XPainter& operator=(const XPainter&) = delete;

    // Each is done by the server when they return.
    void fill(Colour colour, int x, int y, int width, int height);
    void fill(Colour colour) { fill(colour, 0, 0, width_, height_); }
    void write_page(unsigned number);  // rows of small strokes, other ones for each number
    void warp_pointer(int x, int y);

  private:
    _XDisplay* display_;
    unsigned long window_;
    int width_, height_;
};

}  // namespace svc::test
