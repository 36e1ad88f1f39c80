#include "libsvc/services/instances/launch/pending_boots.h"

#include <utility>

namespace svc {

void PendingBoots::expect(const std::string& id, std::string operation, const BootDeadline& deadline,
                          Settled settled) {
    const auto first = std::make_shared<First>(std::move(settled));
    std::optional<Boot> replaced;  // by a later start: freed after the lock
    const std::lock_guard lock(mutex_);
    if (const auto found = boots_.find(id); found != boots_.end()) replaced = std::move(found->second);
    if (replaced) timer_.cancel(replaced->ticket);
    const auto ticket =
        timer_.after(deadline.limit, [this, id, first, late = deadline.late] { time_out(id, first, late); });
    boots_.insert_or_assign(id, Boot{std::move(operation), first, ticket});
}

std::optional<std::string> PendingBoots::settle(std::string_view id, const std::optional<Error>& failure) {
    auto boot = take(id);
    if (!boot) return std::nullopt;
    timer_.cancel(boot->ticket);
    (*boot->settled)(failure);
    return std::move(boot->operation);
}

// The instance may be in a later boot by now, which has its own timeout.
void PendingBoots::time_out(const std::string& id, const std::shared_ptr<First>& settled, const Error& late) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = boots_.find(id);
        if (found != boots_.end() && found->second.settled == settled) boots_.erase(found);
    }
    (*settled)(late);
}

std::optional<PendingBoots::Boot> PendingBoots::take(std::string_view id) {
    const std::lock_guard lock(mutex_);
    const auto found = boots_.find(id);
    if (found == boots_.end()) return std::nullopt;
    std::optional<Boot> boot(std::move(found->second));
    boots_.erase(found);
    return boot;
}

}  // namespace svc
