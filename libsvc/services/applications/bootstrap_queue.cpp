#include "libsvc/services/applications/bootstrap_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace svc {

bool BootstrapQueue::may_begin(const std::string& application) const {
    if (active_.size() >= places_) return false;
    return std::ranges::none_of(active_, [&](const auto& active) { return active.second == application; });
}

void BootstrapQueue::enter(std::string id, std::string application, std::function<void()> start) {
    {
        std::lock_guard lock(mutex_);
        waiting_.push_back({std::move(id), std::move(application), std::move(start)});
    }
    begin_next();
}

void BootstrapQueue::leave(const std::string& id) {
    {
        std::lock_guard lock(mutex_);
        active_.erase(id);
        waiting_.remove_if([&](const Waiting& waiting) { return waiting.id == id; });
    }
    begin_next();
}

void BootstrapQueue::begin_next() {
    std::vector<std::function<void()>> starts;
    {
        std::lock_guard lock(mutex_);
        for (auto next = waiting_.begin(); next != waiting_.end();) {
            if (!may_begin(next->application)) {
                ++next;
                continue;
            }
            active_.emplace(next->id, next->application);
            starts.push_back(std::move(next->start));
            next = waiting_.erase(next);
        }
    }
    for (const auto& start : starts) start();
}

}  // namespace svc
