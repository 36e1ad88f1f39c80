#pragma once
// The short messages of the instance's phone (docs/telephony.md, Messages). Plain values: no threads.
#include <array>
#include <deque>

#include "instance-agent/agent/devices/telephony/call_table.h"

namespace svc::agent {

enum class SmsState { waiting, delivered, sent };

struct Sms {
    std::int64_t id = 0;
    Direction direction = Direction::incoming;
    std::string number{}, message{};
    int parts = 1;
    SmsState state = SmsState::waiting;
    std::int64_t time = 0;  // milliseconds since 1970

    Json to_json() const;  // for the control API
};

class SmsStore {
  public:
    static constexpr std::size_t most_kept = 100;  // of each direction; then the oldest is dropped

    // Gives the message its id and its first state.
    struct Added {
        Sms sms;
        bool dropped = false;  // an older one was
    };
    Added add(Sms sms);
    void deliver(std::int64_t id);  // throws invalid_argument unless the message waits
    void clear();

    const std::deque<Sms>& all() const { return messages_; }  // the oldest first
    std::deque<Sms> waiting() const;
    std::size_t dropped() const { return dropped_; }  // since clear()

  private:
    bool drop_oldest(Direction direction);

    std::deque<Sms> messages_;
    std::int64_t last_id_ = 0;
    std::size_t dropped_ = 0;
};

}  // namespace svc::agent
