#pragma once
// The client's `control` channel: JSON messages, which are passed on by their type to input or injected data.
// Malformed messages, and messages beyond the rate limit, are counted and ignored.
#include <functional>
#include <string>

#include "instance-agent/streamer/client/screen_wish.h"
#include "instance-agent/streamer/guest/injected_data.h"
#include "instance-agent/streamer/input/client_input.h"
#include "libsvc/base/clock.h"

namespace svc::streamer {

// One thread.
class ControlChannel {
  public:
    static constexpr std::size_t max_message = 256U << 10;
    // Messages a second, and as many in a burst. A message that types text counts once for each byte of the
    // text.
    static constexpr double max_rate = 5000;

    // What the client asks of the stream itself.
    struct Requests {
        std::function<void()> disconnect;
        std::function<void(const ScreenWish&)> resize;
    };
    ControlChannel(ClientInput& input, InjectedData& data, Requests requests, Clock& clock);
    void take(const std::string& text);
    void client_gone();  // logs how many messages were ignored

    std::size_t malformed() const { return malformed_; }
    std::size_t too_many() const { return too_many_; }

  private:
    bool spend(double cost);
    void dispatch(const std::string& text);

    ClientInput& input_;
    InjectedData& data_;
    Requests requests_;
    Clock& clock_;
    double room_ = max_rate;
    SteadyTime counted_;
    std::size_t malformed_ = 0, too_many_ = 0;
};

}  // namespace svc::streamer
