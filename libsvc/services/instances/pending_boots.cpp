#include "libsvc/services/instances/pending_boots.h"

#include <utility>

namespace svc {

void PendingBoots::expect(const std::string& id, std::string operation) {
    Boot boot;
    boot.operation = std::move(operation);
    std::lock_guard lock(mutex_);
    boots_.insert_or_assign(id, std::move(boot));
}

void PendingBoots::forget(std::string_view id) {
    std::lock_guard lock(mutex_);
    const auto found = boots_.find(id);
    if (found == boots_.end()) return;
    if (found->second.ticket != 0) timer_.cancel(found->second.ticket);
    boots_.erase(found);
}

bool PendingBoots::expects(std::string_view id) const {
    std::lock_guard lock(mutex_);
    return boots_.find(id) != boots_.end();
}

std::optional<std::string> PendingBoots::settle(std::string_view id, std::optional<Error> failure) {
    Boot boot;
    {
        std::lock_guard lock(mutex_);
        const auto found = boots_.find(id);
        if (found == boots_.end()) return std::nullopt;
        if (found->second.settled) return found->second.operation;
        if (!found->second.done) {
            found->second.settled = true;
            found->second.failure = std::move(failure);
            return found->second.operation;
        }
        boot = std::move(found->second);
        boots_.erase(found);
    }
    if (boot.ticket != 0) timer_.cancel(boot.ticket);
    boot.done(failure);
    return std::move(boot.operation);
}

void PendingBoots::attach(const std::string& id, Duration limit, const Error& late, Done done) {
    std::optional<Error> failure;
    {
        std::lock_guard lock(mutex_);
        const auto found = boots_.find(id);
        if (found == boots_.end()) return;
        if (!found->second.settled) {
            found->second.done = std::move(done);
            found->second.ticket = timer_.after(limit, [this, id, late] { settle(id, late); });
            return;
        }
        failure = std::move(found->second.failure);
        boots_.erase(found);
    }
    done(failure);
}

}  // namespace svc
