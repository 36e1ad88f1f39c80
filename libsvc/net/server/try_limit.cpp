#include "libsvc/net/server/try_limit.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/net/socket/network_of.h"

namespace svc {

namespace {

constexpr int max_wrong = 5;
constexpr std::chrono::seconds block_time{10};  // the first one
constexpr std::chrono::seconds max_block_time{300};
constexpr int max_doublings = 5;
constexpr std::chrono::hours forget_time{1};  // since the last try
constexpr std::size_t max_addresses = 4096;
// Who wants to use up the first tries of others needs a thousand networks at once, and one more each second.
constexpr int first_at_once = 1000;
constexpr std::chrono::seconds first_pause{1};
constexpr int repeated_at_once = 100;
constexpr std::chrono::seconds repeated_pause{6};

}  // namespace

bool TryBudget::take(SteadyTime now) {
    const SteadyTime next = std::max(all_free_at_, now) + pause_;
    if (next - now > most_) return false;
    all_free_at_ = next;
    return true;
}

TryLimit::TryLimit(const Clock& clock)
    : clock_(clock), first_(first_at_once, first_pause), repeated_(repeated_at_once, repeated_pause) {}

std::unique_ptr<TryLimit::Attempt> TryLimit::begin(std::string_view address, Secret secret) {
    const std::string key = network_of(address);
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady_now();
    Address& at = entry(key, now);
    refuse_blocked(at, now);
    TryBudget* const budget = secret == Secret::password ? &take(at, now) : nullptr;
    ++at.under_way;
    at.last_seen = now;
    return std::make_unique<Attempt>(*this, key, budget);
}

void TryLimit::refuse_blocked(const Address& at, SteadyTime now) const {
    if (at.blocked_until <= now && at.wrong + at.under_way < max_wrong) return;
    const Duration left = at.blocked_until > now ? at.blocked_until - now : Duration(block_time);
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(left).count();
    throw Error(ErrorCode::forbidden,
                "too many wrong passwords: try again in " + std::to_string(seconds) + " seconds");
}

TryBudget& TryLimit::take(const Address& at, SteadyTime now) {
    TryBudget& budget = at.spotless() ? first_ : repeated_;
    if (!budget.take(now))
        throw Error(
            ErrorCode::forbidden,
            "too many wrong passwords from all addresses: try again later, or use the local socket or a "
            "join token");
    return budget;
}

TryLimit::Address& TryLimit::entry(const std::string& key, SteadyTime now) {
    std::erase_if(addresses_, [&](const auto& item) {
        return item.second.under_way == 0 && now - item.second.last_seen > forget_time;
    });
    if (addresses_.size() >= max_addresses && !addresses_.contains(key)) {
        const auto oldest = std::ranges::min_element(addresses_, {}, [](const auto& item) {
            return item.second.under_way > 0 ? SteadyTime::max() : item.second.last_seen;
        });
        if (oldest->second.under_way == 0) addresses_.erase(oldest);
    }
    return addresses_[key];
}

void TryLimit::end(const std::string& key, TryBudget* budget, bool right) {
    const std::lock_guard lock(mutex_);
    Address& at = addresses_[key];  // the entry is kept while a try is in progress
    --at.under_way;
    if (right && budget != nullptr) budget->give_back();
    if (right) {
        at.wrong = at.blocks = 0;
    } else if (++at.wrong >= max_wrong) {
        at.wrong = 0;
        at.blocked_until = clock_.steady_now() + std::min(block_time * (1 << at.blocks), max_block_time);
        at.blocks = std::min(at.blocks + 1, max_doublings);
    }
}

}  // namespace svc
