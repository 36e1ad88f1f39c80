#pragma once
// One attached program: the GuestSession that devices hold, and its connection, which the server's thread
// works.
#include <mutex>

#include "instance-agent/agent/guest/guest_peer.h"
#include "instance-agent/agent/guest/guest_session.h"
#include "instance-agent/agent/guest/guest_share.h"
#include "instance-agent/agent/guest/message.h"
#include "instance-agent/agent/guest/outbox.h"

namespace svc::agent {

class GuestConnection final : public GuestSession {
  public:
    using Instant = std::chrono::steady_clock::time_point;

    GuestConnection(std::shared_ptr<GuestShare> share, const GuestServerOptions& options,
                    FileDescriptor socket, std::uint64_t id, GuestPeer peer);
    ~GuestConnection() override;

    // Called on any thread.
    std::uint64_t id() const override { return id_; }
    uid_t uid() const override { return peer_.uid; }
    bool may_control() const override { return peer_.may_control; }
    void send_event(const Json& event) override;
    void send_answer(const Json& answer) override;
    bool send_frame(std::uint16_t stream, std::string_view header) override;
    bool open() const override { return open_; }
    void send_event_text(std::string_view name, const std::string& text);

    // The rest is called on the server's thread alone.
    int descriptor() const { return socket_.get(); }
    // Reads at most 64 KiB from the socket. False: close the connection.
    bool receive();
    std::optional<GuestMessage>
    next_message();              // the next whole message; throws invalid_argument for malformed input
    std::uint64_t mark() const;  // the place for an answer: see Outbox::mark()
    void answer(const Json& answer, FileDescriptor descriptor, std::uint64_t mark);
    // Sends as much as the socket takes. False: close the connection; also when too many bytes of answers
    // wait.
    bool flush();
    bool has_output() const;
    // The client does not read its answers: read no more requests of it.
    bool is_clogged() const;
    void close();  // drops what waits; later sends do nothing

    bool greeted = false;         // hello was accepted
    bool waits_for_room = false;  // no requests are read until its answers are sent
    std::uint32_t interest = 0;   // the events that epoll watches
    Instant hello_deadline;

  private:
    template <class Put>
    auto put(Put&& put);
    void account_input();

    const std::shared_ptr<GuestShare> share_;
    const std::uint64_t id_;
    const GuestPeer peer_;
    const std::size_t queue_bytes_;
    FileDescriptor socket_;
    MessageReader reader_;
    std::size_t counted_input_ = 0;
    std::atomic<bool> open_{true};
    mutable std::mutex mutex_;
    Outbox outbox_;
    bool overrun_ = false;  // an answer did not fit the queue
    bool woken_ = false;    // the server's thread was woken for this session
};

}  // namespace svc::agent
