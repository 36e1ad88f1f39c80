#include "libsvc/streaming/relay/media_links.h"

#include "libsvc/base/error.h"

namespace svc {

std::shared_ptr<MediaLink> MediaLinks::open(const std::string& session, const std::string& client) {
    auto link = std::make_shared<MediaLink>(clock_, MediaLimits(),
                                            [bytes = bytes_](std::size_t more) { *bytes += more; });
    std::lock_guard lock(mutex_);
    if (links_.size() >= most) throw Error(ErrorCode::unavailable, "too many streams go through the gateway");
    if (count_of(session) >= most_of_session)
        throw Error(ErrorCode::unavailable, "too many streams of the session go through the gateway");
    links_[{session, client}] = link;
    return link;
}

// Under the lock.
std::size_t MediaLinks::count_of(const std::string& session) const {
    std::size_t count = 0;
    for (auto at = links_.lower_bound({session, ""}); at != links_.end() && at->first.first == session; ++at)
        if (!at->second->is_over()) ++count;
    return count;
}

std::shared_ptr<MediaLink> MediaLinks::get(const std::string& session, const std::string& client) {
    std::lock_guard lock(mutex_);
    const auto found = links_.find({session, client});
    if (found == links_.end()) throw Error(ErrorCode::not_found, "the client has gone");
    return found->second;
}

void MediaLinks::end(const std::string& session, const StreamEnd& end) {
    std::lock_guard lock(mutex_);
    for (auto at = links_.lower_bound({session, ""}); at != links_.end() && at->first.first == session;) {
        at->second->end(end);
        at = links_.erase(at);
    }
}

void MediaLinks::end_all(const StreamEnd& end) {
    std::lock_guard lock(mutex_);
    for (const auto& [key, link] : links_) link->end(end);
    links_.clear();
}

void MediaLinks::tick() {
    const SteadyTime now = clock_.steady_now();
    std::lock_guard lock(mutex_);
    std::erase_if(links_, [&](const auto& entry) {
        entry.second->tick(now);
        return entry.second->is_over();
    });
}

MediaCounts MediaLinks::counts() const {
    std::lock_guard lock(mutex_);
    return {links_.size(), *bytes_};
}

}  // namespace svc
