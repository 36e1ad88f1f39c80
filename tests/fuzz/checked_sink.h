#pragma once
// A display that lets nothing through which its owner has not promised: everything else is a finding.
#include <linux/input-event-codes.h>

#include <bitset>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "instance-agent/streamer/input/input.h"
#include "instance-agent/streamer/input/utf8.h"

namespace svc::fuzz {

inline void require(bool holds) {
    if (!holds) std::abort();
}

class CheckedSink final : public streamer::InputSink {
  public:
    void move(double x, double y) override { check_place(x, y); }
    void move_by(int dx, int dy) override { require(std::abs(dx) <= 100'000 && std::abs(dy) <= 100'000); }
    void button(int button, bool) override { require(button >= 1 && button <= 16); }
    void wheel(int x, int y) override { require(std::abs(x) <= 16 && std::abs(y) <= 16); }
    void touch_start(int slot, double x, double y) override {
        check_place(x, y);
        touches_.set(slot_of(slot));
    }
    void touch_move(int slot, double x, double y) override {
        check_place(x, y);
        require(touches_.test(slot_of(slot)));
    }
    void touch_end(int slot) override {
        require(touches_.test(slot_of(slot)));
        touches_.reset(slot_of(slot));
    }
    void key(int linux_code, bool) override { require(linux_code > 0 && linux_code <= KEY_MAX); }
    void text(const std::string& utf8) override { require(utf8.size() <= 4096); }
    void gamepad_button(int pad, int index, bool) override {
        require(pad >= 0 && pad <= 3 && index >= 0 && index <= 16);
    }
    void gamepad_axis(int pad, int index, double value) override {
        require(pad >= 0 && pad <= 3 && index >= 0 && index <= 5 && value >= -1 && value <= 1);
    }
    void resized(int width, int height) override { require(width > 0 && height > 0); }
    void release_all() override { touches_.reset(); }

  private:
    static void check_place(double x, double y) {
        require(std::abs(x) <= 100'000 && std::abs(y) <= 100'000);  // which no NaN is
    }
    static std::size_t slot_of(int slot) {
        require(slot >= 0 && slot <= 9);
        return static_cast<std::size_t>(slot);
    }
    std::bitset<10> touches_;  // that are down
};

}  // namespace svc::fuzz
