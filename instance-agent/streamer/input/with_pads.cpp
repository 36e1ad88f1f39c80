#include "instance-agent/streamer/input/with_pads.h"

#include <utility>

#include "instance-agent/streamer/input/pad_devices.h"

namespace svc::streamer {

namespace {

class WithPads final : public InputSink {
  public:
    WithPads(std::unique_ptr<InputSink> sink, DeviceMaker make)
        : sink_(std::move(sink)), pads_(std::move(make)) {}

    void move(double x, double y) override { sink_->move(x, y); }
    void move_by(int dx, int dy) override { sink_->move_by(dx, dy); }
    void button(int button, bool pressed) override { sink_->button(button, pressed); }
    void wheel(int x, int y) override { sink_->wheel(x, y); }
    void touch_start(int slot, double x, double y) override { sink_->touch_start(slot, x, y); }
    void touch_move(int slot, double x, double y) override { sink_->touch_move(slot, x, y); }
    void touch_end(int slot) override { sink_->touch_end(slot); }
    void key(int linux_code, bool pressed) override { sink_->key(linux_code, pressed); }
    void text(const std::string& utf8) override { sink_->text(utf8); }
    void gamepad_button(int pad, int index, bool pressed) override { pads_.button(pad, index, pressed); }
    void gamepad_axis(int pad, int index, double value) override { pads_.axis(pad, index, value); }
    void resized(int width, int height) override { sink_->resized(width, height); }
    void release_all() override {
        sink_->release_all();
        pads_.remove_all();
    }

  private:
    std::unique_ptr<InputSink> sink_;
    PadDevices pads_;
};

}  // namespace

std::unique_ptr<InputSink> with_pads(std::unique_ptr<InputSink> sink, DeviceMaker make) {
    return std::make_unique<WithPads>(std::move(sink), std::move(make));
}

}  // namespace svc::streamer
