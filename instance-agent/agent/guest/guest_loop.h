#pragma once
// The event loop of the guest server: accepts connections, reads messages, passes them to the protocol,
// writes answers and events.
#include <array>
#include <map>

#include "instance-agent/agent/guest/guest_connection.h"
#include "instance-agent/agent/guest/guest_protocol.h"
#include "libsvc/base/guarded.h"

struct epoll_event;

namespace svc::agent {

// Called on the server's thread, except stop(), broadcast() and sessions().
class GuestLoop {
  public:
    GuestLoop(GuestServerOptions options, std::vector<GuestFeature> features);
    ~GuestLoop();
    void run();  // until stop()
    void stop();
    void broadcast(const Json& event);
    std::size_t sessions() const;

  private:
    using Session = std::shared_ptr<GuestConnection>;
    using Instant = GuestConnection::Instant;

    void handle(const epoll_event& event);
    void accept_some();
    void admit(FileDescriptor socket);
    bool is_welcome(const GuestPeer& peer) const;
    void rest_accepting();
    void handle_session(const Session& session, std::uint32_t events);
    bool converse(const Session& session);
    bool reply(const Session& session, const GuestMessage& message);
    void settle(const Session& session);
    void set_interest(const Session& session, std::uint32_t interest);
    void end(const Session& session, bool at_fault);
    void end_silent();
    int next_timeout() const;

    const GuestServerOptions options_;
    const std::shared_ptr<GuestShare> share_;
    GuestProtocol protocol_;
    FileDescriptor epoll_, listener_;
    std::uint64_t socket_file_ = 0;  // the socket's inode: only this socket is removed at the end
    std::uint64_t next_id_;
    bool accepting_ = true;
    Instant accept_again_{};
    std::map<std::uint64_t, Session> sessions_;
    std::map<uid_t, std::size_t> by_user_;
    Guarded<std::map<std::uint64_t, Session>> greeted_;  // the sessions for broadcast(), on any thread
    std::atomic<std::size_t> count_{0};
    std::atomic<bool> stopping_{false};
};

}  // namespace svc::agent
