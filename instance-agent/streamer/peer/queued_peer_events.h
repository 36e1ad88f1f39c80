#pragma once
// Carries the events of a peer from threads of the media library to the thread of an event queue.
#include <atomic>
#include <memory>

#include "instance-agent/streamer/peer/peer.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

// Calls `target` on the queue's thread with each event, in their order. Held by a shared_ptr that is reset on
// the queue's thread when the peer has ended: events that still wait in the queue are dropped then. `queue`
// and `target` outlive it.
class QueuedPeerEvents final : public PeerEvents, public std::enable_shared_from_this<QueuedPeerEvents> {
  public:
    // Bytes of channel messages in the queue. A message beyond it is dropped: a client that floods does not
    // fill the memory.
    static constexpr std::size_t max_waiting = 8U << 20;

    QueuedPeerEvents(EventQueue& queue, PeerEvents& target) : queue_(queue), target_(target) {}
    void local_offer(const std::string& sdp) override;
    void local_candidate(const std::string& candidate, unsigned media_line) override;
    void connected() override;
    void failed(const std::string& reason) override;
    void left() override;
    void fell_silent() override;
    void channel_opened(const std::string& label) override;
    void channel_closed(const std::string& label) override;
    void channel_message(const std::string& label, bool binary, std::string_view data) override;

  private:
    template <class Call>
    void post(Call call);

    EventQueue& queue_;
    PeerEvents& target_;
    std::atomic<std::size_t> waiting_ = 0;
};

}  // namespace svc::streamer
