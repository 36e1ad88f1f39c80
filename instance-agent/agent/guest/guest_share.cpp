#include "instance-agent/agent/guest/guest_share.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

MetricsRegistry& choose(MetricsRegistry* given, MetricsRegistry& own) {
    return given != nullptr ? *given : own;
}

}  // namespace

GuestShare::GuestShare(const GuestServerOptions& options)
    : wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      total_bytes_(options.total_bytes),
      sessions_total(choose(options.metrics, own_)
                         .counter("runtime_guest_sessions_total", "Programs that have attached so far")),
      messages(choose(options.metrics, own_)
                   .counter("runtime_guest_messages_total", "Messages taken from guest programs")),
      refused(
          choose(options.metrics, own_)
              .counter("runtime_guest_refused_total", "Connections of guests closed for a fault or a limit")),
      dropped_events(choose(options.metrics, own_)
                         .counter("runtime_guest_events_dropped_total", "Events a guest was too slow for")),
      dropped_frames(choose(options.metrics, own_)
                         .counter("runtime_guest_frames_dropped_total", "Frames a guest was too slow for")),
      sessions(choose(options.metrics, own_).gauge("runtime_guest_sessions", "Programs attached now")) {
    if (!wake_) throw system_error("cannot make an event descriptor", errno);
}

void GuestShare::wake(std::uint64_t session) {
    {
        std::lock_guard lock(mutex_);
        woken_.push_back(session);
        if (woken_.size() > 1) return;
    }
    const std::uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof(one));
}

std::vector<std::uint64_t> GuestShare::take_woken() {
    std::uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof(count));
    std::lock_guard lock(mutex_);
    return std::exchange(woken_, {});
}

}  // namespace svc::agent
