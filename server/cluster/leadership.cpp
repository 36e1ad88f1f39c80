#include "server/cluster/leadership.h"

#include <condition_variable>
#include <mutex>

namespace svc::server {

struct Leadership::News {
    void tell() {
        std::lock_guard lock(mutex);
        changed.notify_all();
    }
    std::mutex mutex;
    std::condition_variable changed;
};

Leadership::Leadership(Membership& membership) : membership_(membership), news_(std::make_shared<News>()) {
    listener_ = membership_.on_change([news = news_] { news->tell(); });
}

bool Leadership::here() const {
    return here_;
}

std::optional<LeadingManager> Leadership::elsewhere() const {
    const auto leader = membership_.leader();
    if (!leader || leader->id == membership_.self().id) return {};
    auto manager = find_manager(membership_, leader->id);
    if (!manager) return {};
    return LeadingManager{leader->term, std::move(*manager)};
}

void Leadership::take_over() {
    here_ = true;
    news_->tell();
}

bool Leadership::await(std::chrono::milliseconds limit) const {
    std::unique_lock lock(news_->mutex);
    return news_->changed.wait_for(lock, limit, [this] { return here() || elsewhere(); });
}

}  // namespace svc::server
