#include "instance-agent/streamer/threads/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "libsvc/base/error.h"

namespace svc::streamer {

Wake::Wake() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) throw system_error("eventfd", errno);
}

void Wake::wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(event_.get(), &one, sizeof(one));
}

void Wake::drain() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t read_bytes = read(event_.get(), &count, sizeof(count));
}

}  // namespace svc::streamer
