#pragma once
// One WebSocket, of /1.0/events for the most part: connects, upgrades, takes frames apart, answers pings.
#include <functional>
#include <string>
#include <string_view>

#include "tests/bench/load/endpoint.h"
#include "tests/bench/load/reply_reader.h"

namespace svc::bench {

class Subscriber {
  public:
    using OnText = std::function<void(Subscriber&, std::string_view text)>;
    enum class State { shaking, upgrading, open, ended };

    Subscriber(const Endpoint& endpoint, const std::string& path);
    // Whenever the connection may have something. `scratch` is shared by all.
    void advance(std::string& scratch, const OnText& on_text);
    void say(std::string_view text);  // sends a message, with the next advance() what does not go out at once
    State state() const { return state_; }
    int fd() const { return stream_.fd(); }

    std::uint64_t last = 0;      // number of the newest event; kept by the owner
    std::uint64_t received = 0;  // likewise
    std::uint64_t lost = 0;

  private:
    void shake();
    void send();
    void take(std::string_view data, const OnText& on_text);
    std::string_view take_frames(std::string_view data, const OnText& on_text);
    void take_frame(unsigned char kind, std::string_view payload, const OnText& on_text);

    Stream stream_;
    State state_ = State::shaking;
    std::string unsent_;
    ReplyReader reply_;
    std::string partial_;  // the beginning of a frame
};

}  // namespace svc::bench
