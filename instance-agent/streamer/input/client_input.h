#pragma once
// Passes input messages of the client's control channel to an InputSink.
#include <bitset>
#include <string_view>

#include "instance-agent/streamer/input/input.h"
#include "libsvc/base/json.h"

namespace svc::streamer {

// One thread. The sink outlives it.
class ClientInput {
  public:
    explicit ClientInput(InputSink& sink) : sink_(sink) {}

    // `type` begins with "input::". Throws invalid_argument for an unknown type and for members that are
    // malformed or out of range; then it has done nothing.
    void apply(std::string_view type, const JsonFields& data);
    void release_all();  // releases keys, buttons and touches: the client has gone

  private:
    static constexpr std::size_t max_touches = 10;
    using Handler = void (ClientInput::*)(const JsonFields& data);
    struct Entry;

    void mouse_move(const JsonFields& data);
    void mouse_button(const JsonFields& data);
    void mouse_wheel(const JsonFields& data);
    void touch_start(const JsonFields& data);
    void touch_move(const JsonFields& data);
    void touch_end(const JsonFields& data);
    void key(const JsonFields& data);
    void gamepad_button(const JsonFields& data);
    void gamepad_axis(const JsonFields& data);
    void screen_keyboard(const JsonFields& data);
    void screen_key(int event, const JsonFields& data);
    void compose(const std::string& text);
    void press(int linux_code);

    InputSink& sink_;
    std::bitset<max_touches> touches_;  // touches that are down
    std::size_t composed_ = 0;          // characters of a composed text that is not final
};

}  // namespace svc::streamer
