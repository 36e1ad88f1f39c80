#pragma once
// What programs of the guest write into custom channels, on its way to the page: in its order, and no faster
// than the page takes it.
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "instance-agent/streamer/client/media_peer.h"
#include "instance-agent/streamer/event_queue.h"

namespace svc::streamer {

// One thread: the queue's. How much waits is up to who gives it.
class PageWriter {
  public:
    static constexpr std::size_t max_buffered = 1U << 20;  // of a channel of the peer
    static constexpr std::chrono::milliseconds buffer_check{20};
    using FindPeer = std::function<MediaPeer*()>;  // null: no client
    using Taken =
        std::function<void(const std::string& channel, std::size_t bytes)>;  // sent, or nobody is there

    PageWriter(EventQueue& queue, FindPeer peer, Taken taken);
    void write(const std::string& channel, std::string data);
    void forget(const std::string& channel);  // what waits is of a page that has gone
    void forget_all();

  private:
    struct Line {
        std::deque<std::string> waiting;
        bool checks = false;  // it is looked at again later
    };
    void send_waiting(const std::string& channel);
    void check_later(const std::string& channel);

    EventQueue& queue_;
    FindPeer peer_;
    Taken taken_;
    std::map<std::string, Line> lines_;
};

}  // namespace svc::streamer
