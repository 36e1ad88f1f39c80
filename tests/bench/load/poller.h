#pragma once
// epoll: which connections have something to do.
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::bench {

// `T` is what a descriptor stands for; edge-triggered: read until nothing is left.
template <class T>
class Poller {
  public:
    void add(int fd, T& what) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.ptr = &what;
        if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            throw system_error("cannot poll a connection", errno);
    }
    // Calls `ready(T&)` for each, after at most `patience`.
    template <class Ready>
    void wait(std::chrono::milliseconds patience, Ready&& ready) {
        const int count =
            epoll_wait(epoll_.get(), events_.data(), events_.size(), static_cast<int>(patience.count()));
        for (int i = 0; i < count; ++i)
            ready(*static_cast<T*>(events_[static_cast<std::size_t>(i)].data.ptr));
    }

  private:
    FileDescriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
    std::array<epoll_event, 512> events_{};
};

}  // namespace svc::bench
