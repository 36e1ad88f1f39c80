#pragma once
// The guest interface: a socket of the instance to which programs of the guest attach. They subscribe to
// places and sensors, take camera frames, use or provide vehicle properties. docs/guest-interface.md has the
// protocol.
#include <thread>

#include "instance-agent/agent/guest/guest_loop.h"

namespace svc::agent {

// Serves from construction to destruction, all sessions on one thread of its own. Thread-safe. The
// constructor throws Error when the socket cannot be bound (`busy`: another agent serves there).
class GuestServer {
  public:
    GuestServer(GuestServerOptions options, std::vector<GuestFeature> features);
    ~GuestServer();  // ends all sessions
    GuestServer(const GuestServer&) = delete;
    GuestServer& operator=(const GuestServer&) = delete;

    void broadcast(const Json& event);  // to each session that has said hello
    std::size_t sessions() const;       // connections that are open now

  private:
    void serve() noexcept;

    GuestLoop loop_;
    std::jthread thread_;
};

}  // namespace svc::agent
