#pragma once
// One attached program: the GuestSession that devices hold, and its connection, which the server's thread
// works.
#include <mutex>

#include "instance-agent/agent/guest/guest_peer.h"
#include "instance-agent/agent/guest/guest_share.h"
#include "instance-agent/agent/guest/message.h"
#include "instance-agent/agent/guest/outbox.h"

namespace svc::agent {

class Attached final : public GuestSession {
  public:
    using Instant = std::chrono::steady_clock::time_point;

    Attached(std::shared_ptr<GuestShare> share, const GuestServerOptions& options, FileDescriptor socket,
             std::uint64_t id, GuestPeer peer);
    ~Attached() override;

    // For any thread.
    std::uint64_t id() const override { return id_; }
    uid_t uid() const override { return peer_.uid; }
    bool may_control() const override { return peer_.may_control; }
    void send_event(const Json& event) override;
    void send_answer(const Json& answer) override;
    bool send_frame(std::uint16_t stream, std::string_view header) override;
    bool open() const override { return open_; }
    void send_event_text(std::string_view name, const std::string& text);

    // What follows is the server's thread alone.
    int descriptor() const { return socket_.get(); }
    // Takes what has come, at most 64 KiB. False: the connection is to be closed.
    bool receive();
    std::optional<GuestMessage> next_message();  // throws invalid_argument for malformed input
    std::uint64_t mark() const;                  // of an answer: see Outbox
    void answer(const Json& answer, FileDescriptor descriptor, std::uint64_t mark);
    // Sends what the connection takes. False: the connection is to be closed; be it because more answers wait
    // than may.
    bool flush();
    bool has_output() const;
    // Answers are not taken: nothing more is to be read.
    bool is_clogged() const;
    void close();  // nothing is sent from now on

    bool greeted = false;         // has said hello
    bool waits_for_room = false;  // not read from until its answers are gone
    std::uint32_t interest = 0;   // what epoll looks for
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
    bool overrun_ = false;  // an answer had no room
    bool woken_ = false;    // the server's thread knows that there is something
};

}  // namespace svc::agent
