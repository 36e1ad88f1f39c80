#include "libsvc/runtime/lxc/processes/watcher.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::lxc {

namespace {

void call_logged(const Watcher::Call& call) {
    try {
        call();
    } catch (const std::exception& e) {
        log::debug("container watcher: call failed", {{"error", e.what()}});
    }
}

}  // namespace

Watcher::Watcher()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (!epoll_ || !wakeup_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0)
        throw system_error("cannot watch containers", errno);
    thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
    ::pthread_setname_np(thread_.native_handle(), "lxc-watcher");
}

Watcher::~Watcher() {
    thread_.request_stop();
    wake();
    thread_.join();
}

Watcher::Ticket Watcher::watch(int fd, Call call) {
    return waiting_.with([&](Waiting& waiting) {
        const Ticket ticket = ++waiting.last;
        epoll_event event{};
        event.events = EPOLLIN | EPOLLONESHOT;
        event.data.u64 = ticket;
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
            throw system_error("cannot watch a descriptor", errno);
        waiting.descriptors.emplace(ticket, std::make_pair(fd, std::move(call)));
        return ticket;
    });
}

Watcher::Ticket Watcher::after(std::chrono::milliseconds delay, Call call) {
    const Ticket ticket = waiting_.with([&](Waiting& waiting) {
        waiting.delays.emplace(std::make_pair(std::chrono::steady_clock::now() + delay, ++waiting.last),
                               std::move(call));
        return waiting.last;
    });
    wake();
    return ticket;
}

void Watcher::cancel(Ticket ticket) {
    waiting_.with([&](Waiting& waiting) {
        if (const auto found = waiting.descriptors.find(ticket); found != waiting.descriptors.end()) {
            ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.first, nullptr);
            waiting.descriptors.erase(found);
            return;
        }
        std::erase_if(waiting.delays, [&](const auto& delay) { return delay.first.second == ticket; });
    });
}

void Watcher::wake() {
    const std::uint64_t one = 1;
    if (::write(wakeup_.get(), &one, sizeof one) < 0) return;  // EAGAIN: the thread is awake
}

int Watcher::next_timeout() {
    return waiting_.with([](const Waiting& waiting) {
        if (waiting.delays.empty()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(waiting.delays.begin()->first.first -
                                                                       std::chrono::steady_clock::now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    });
}

void Watcher::call_due() {
    for (;;) {
        Call call;
        waiting_.with([&](Waiting& waiting) {
            const auto first = waiting.delays.begin();
            if (first == waiting.delays.end() || first->first.first > std::chrono::steady_clock::now())
                return;
            call = std::move(first->second);
            waiting.delays.erase(first);
        });
        if (!call) return;
        call_logged(call);
    }
}

void Watcher::call_ready(Ticket ticket) {
    Call call;
    waiting_.with([&](Waiting& waiting) {
        const auto found = waiting.descriptors.find(ticket);
        if (found == waiting.descriptors.end()) return;
        ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second.first, nullptr);
        call = std::move(found->second.second);
        waiting.descriptors.erase(found);
    });
    if (call) call_logged(call);
}

void Watcher::run(std::stop_token stop) {
    std::array<epoll_event, 32> events;
    while (!stop.stop_requested()) {
        const int ready =
            ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), next_timeout());
        for (int i = 0; i < ready && !stop.stop_requested(); ++i) {
            std::uint64_t drained = 0;
            if (events[static_cast<std::size_t>(i)].data.u64 != 0)
                call_ready(events[static_cast<std::size_t>(i)].data.u64);
            else if (::read(wakeup_.get(), &drained, sizeof drained) < 0)
                continue;
        }
        if (!stop.stop_requested()) call_due();
    }
}

}  // namespace svc::lxc
