#include "instance-agent/streamer/input/no_input.h"

namespace svc::streamer {

namespace {

class NoInput final : public InputSink {
  public:
    void move(double, double) override {}
    void move_by(int, int) override {}
    void button(int, bool) override {}
    void wheel(int, int) override {}
    void touch_start(int, double, double) override {}
    void touch_move(int, double, double) override {}
    void touch_end(int) override {}
    void key(int, bool) override {}
    void text(const std::string&) override {}
    void gamepad_button(int, int, bool) override {}
    void gamepad_axis(int, int, double) override {}
    void resized(int, int) override {}
    void release_all() override {}
};

}  // namespace

std::unique_ptr<InputSink> make_no_input() {
    return std::make_unique<NoInput>();
}

}  // namespace svc::streamer
