#pragma once
// Carries what a peer tells, on threads of the media library, to the streamer's own thread.
#include <atomic>

#include "instance-agent/streamer/client/peer.h"
#include "instance-agent/streamer/event_queue.h"

namespace svc::streamer {

// Who hears it, on the queue's thread. `peer` is the number of the peer it is about: it may have ended.
class PeerNews {
  public:
    virtual ~PeerNews() = default;
    virtual void on_offer(unsigned peer, const std::string& sdp) = 0;
    virtual void on_candidate(unsigned peer, const std::string& candidate, unsigned media_line) = 0;
    virtual void on_connected(unsigned peer) = 0;
    virtual void on_failed(unsigned peer, const std::string& reason) = 0;
    virtual void on_left(unsigned peer) = 0;
    virtual void on_silent(unsigned peer) = 0;
    virtual void on_channel_opened(unsigned peer, const std::string& label) = 0;
    virtual void on_channel_closed(unsigned peer, const std::string& label) = 0;
    virtual void on_channel_message(unsigned peer, const std::string& label, const std::string& data) = 0;
};

class PeerListener final : public PeerEvents {
  public:
    // Messages of channels that wait beyond this are dropped: a client that floods does not fill the memory.
    static constexpr std::size_t max_waiting = 8U << 20;

    PeerListener(EventQueue& queue, PeerNews& news, unsigned peer)
        : queue_(queue), news_(news), peer_(peer), waiting_(std::make_shared<std::atomic<std::size_t>>(0)) {}
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
    EventQueue& queue_;
    PeerNews& news_;
    unsigned peer_;
    std::shared_ptr<std::atomic<std::size_t>> waiting_;  // bytes of messages in the queue
};

}  // namespace svc::streamer
