#pragma once
// Sends to the page what programs of the guest write into custom channels: in order, and no faster than the
// page reads.
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "instance-agent/streamer/peer/peer.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

// Used on the queue's thread alone. Does not limit how much waits: CustomChannels does.
class PageWriter {
  public:
    static constexpr std::size_t max_buffered = 1U << 20;  // bytes in a data channel of the peer
    static constexpr std::chrono::milliseconds buffer_check{20};
    using FindPeer = std::function<Peer*()>;  // null: no client
    using Taken = std::function<void(const std::string& channel,
                                     std::size_t bytes)>;  // were sent, or dropped without a client

    PageWriter(EventQueue& queue, FindPeer peer, Taken taken);
    void write(const std::string& channel, std::string data);
    void forget(const std::string& channel);  // drops what waits: the page has gone
    void forget_all();

  private:
    struct Line {
        std::deque<std::string> waiting;
        bool checks = false;  // a later attempt is scheduled
    };
    void send_waiting(const std::string& channel);
    void check_later(const std::string& channel);

    EventQueue& queue_;
    FindPeer peer_;
    Taken taken_;
    std::map<std::string, Line> lines_;
};

}  // namespace svc::streamer
