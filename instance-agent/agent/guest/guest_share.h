#pragma once
// State that the guest server's thread shares with holders of its sessions, which may outlive the server:
// wake-ups, bytes that wait, metrics.
#include <atomic>
#include <mutex>
#include <vector>

#include "instance-agent/agent/guest/guest_server_options.h"
#include "libsvc/base/file.h"

namespace svc::agent {

// Thread-safe.
class GuestShare {
  public:
    explicit GuestShare(const GuestServerOptions& options);

    // Makes the server's thread handle a session that has output or shall end.
    void wake(std::uint64_t session);
    int wake_descriptor() const { return wake_.get(); }
    std::vector<std::uint64_t> take_woken();

    // Counts the bytes that wait in one session: `before` and `after` a change.
    void account(std::size_t before, std::size_t after) { waiting_ += after - before; }
    bool has_room(std::size_t bytes) const { return waiting_ + bytes <= total_bytes_; }

  private:
    FileDescriptor wake_;
    std::mutex mutex_;
    std::vector<std::uint64_t> woken_;
    std::atomic<std::size_t> waiting_{0};
    const std::size_t total_bytes_;
    MetricsRegistry own_;  // used when the options name no registry

  public:
    Counter &sessions_total, &messages, &refused, &dropped_events, &dropped_frames;
    Gauge& sessions;
};

}  // namespace svc::agent
