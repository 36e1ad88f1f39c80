#include "libsvc/streaming/sessions/creation_limit.h"

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::chrono::minutes creation_window{1};

}  // namespace

void CreationLimit::admit(const SessionOwner& owner) {
    if (per_minute_ == 0 || owner.empty()) return;
    const SteadyTime now = clock_.steady_now();
    creations_.with([&](auto& accounts) {
        std::erase_if(accounts,
                      [&](const auto& account) { return now - account.second.back() >= creation_window; });
        std::deque<SteadyTime>& times = accounts[owner];
        while (!times.empty() && now - times.front() >= creation_window) times.pop_front();
        if (times.size() >= per_minute_) throw Error(ErrorCode::invalid_argument, "Too many requests");
        times.push_back(now);
    });
}

}  // namespace svc
