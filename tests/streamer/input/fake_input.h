#pragma once
// An InputSink that writes down what it is told.
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "instance-agent/streamer/input/input.h"

namespace svc::test {

class FakeInput final : public streamer::InputSink {
  public:
    std::function<void()> on_move;  // what the X server does with it

    void move(double x, double y) override {
        note("move {} {}", x, y);
        if (on_move) on_move();
    }
    void move_by(int dx, int dy) override { note("by {} {}", dx, dy); }
    void button(int button, bool pressed) override { note("button {} {}", button, pressed); }
    void wheel(int x, int y) override { note("wheel {} {}", x, y); }
    void touch_start(int slot, double x, double y) override { note("touch {} {} {}", slot, x, y); }
    void touch_move(int slot, double x, double y) override { note("drag {} {} {}", slot, x, y); }
    void touch_end(int slot) override { note("lift {}", slot); }
    void key(int code, bool pressed) override { note("key {} {}", code, pressed); }
    void text(const std::string& utf8) override { note("text {}", utf8); }
    void gamepad_button(int pad, int index, bool pressed) override {
        note("pad {} {} {}", pad, index, pressed);
    }
    void gamepad_axis(int pad, int index, double value) override { note("axis {} {} {}", pad, index, value); }
    void resized(int width, int height) override { note("size {} {}", width, height); }
    void release_all() override { note("release"); }

    std::vector<std::string> take() { return std::exchange(notes_, {}); }

  private:
    template <class... Arguments>
    void note(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
        notes_.push_back(fmt::format(form, std::forward<Arguments>(arguments)...));
    }
    std::vector<std::string> notes_;
};

}  // namespace svc::test
