#pragma once
// Packets of sound that wait for a client. Who is behind hears the newest ones: the oldest are dropped.
#include <deque>
#include <optional>

#include "instance-agent/streamer/peer/encoded_sound.h"

namespace svc::streamer {

class SoundQueue {
  public:
    static constexpr std::size_t most = 10;  // packets: 200 ms

    void add(const SoundPacket& packet) {
        if (packets_.size() >= most) packets_.pop_front();
        packets_.push_back(packet);
    }
    std::optional<SoundPacket> take() {
        if (packets_.empty()) return std::nullopt;
        SoundPacket first = std::move(packets_.front());
        packets_.pop_front();
        return first;
    }
    bool empty() const { return packets_.empty(); }

  private:
    std::deque<SoundPacket> packets_;
};

}  // namespace svc::streamer
