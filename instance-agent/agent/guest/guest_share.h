#pragma once
// What the guest server's thread shares with those who hold its sessions, perhaps after its end.
#include <atomic>
#include <mutex>
#include <vector>

#include "instance-agent/agent/guest/guest_server.h"

namespace svc::agent {

// Thread-safe.
class GuestShare {
  public:
    explicit GuestShare(const GuestServerOptions& options);

    // Makes the server's thread look at a session that has something to send or is to end.
    void wake(std::uint64_t session);
    int wake_descriptor() const { return wake_.get(); }
    std::vector<std::uint64_t> take_woken();

    // Bytes that wait; changed by the difference of one session.
    void account(std::size_t before, std::size_t after) { waiting_ += after - before; }
    bool has_room(std::size_t bytes) const { return waiting_ + bytes <= total_bytes_; }

  private:
    FileDescriptor wake_;
    std::mutex mutex_;
    std::vector<std::uint64_t> woken_;
    std::atomic<std::size_t> waiting_{0};
    const std::size_t total_bytes_;
    MetricsRegistry own_;  // where the server was given none

  public:
    Counter &sessions_total, &messages, &refused, &dropped_events, &dropped_frames;
    Gauge& sessions;
};

}  // namespace svc::agent
