#include "libsvc/net/server/try_limit.h"

#include <algorithm>
#include <tuple>

#include "libsvc/base/error.h"
#include "libsvc/net/socket/network_of.h"

namespace svc {

namespace {

constexpr int max_wrong = 5;
constexpr std::chrono::seconds block_time{10};  // the first time
constexpr std::chrono::seconds max_block_time{300};
constexpr int max_doublings = 5;
constexpr std::chrono::minutes forget_time{10};  // since the last try
constexpr std::chrono::hours forget_known_time{24};
constexpr std::size_t max_addresses = 4096;
constexpr std::chrono::seconds password_pause{6};
constexpr int passwords_at_once = 100;

}  // namespace

std::unique_ptr<TryLimit::Attempt> TryLimit::begin(std::string_view address, Secret secret) {
    const std::string key = network_of(address);
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady_now();
    Address& at = entry(key, now);
    if (at.blocked_until > now || at.wrong + at.under_way >= max_wrong)
        throw Error(ErrorCode::forbidden, "too many wrong passwords: try again in 10 seconds");
    const bool take = secret == Secret::password && !at.known;
    if (take) take_from_all(now);
    ++at.under_way;
    at.last_seen = now;
    return std::make_unique<Attempt>(*this, key, take);
}

void TryLimit::take_from_all(SteadyTime now) {
    const SteadyTime next = std::max(all_free_at_, now) + password_pause;
    if (next - now > passwords_at_once * password_pause)
        throw Error(
            ErrorCode::forbidden,
            "too many wrong passwords from all addresses: try again later, or use the local socket or a "
            "join token");
    all_free_at_ = next;
}

void TryLimit::forget_idle(SteadyTime now) {
    std::erase_if(addresses_, [&](const auto& item) {
        const Duration kept = item.second.known ? Duration(forget_known_time) : Duration(forget_time);
        return item.second.under_way == 0 && now - item.second.last_seen > kept;
    });
}

TryLimit::Address& TryLimit::entry(const std::string& key, SteadyTime now) {
    forget_idle(now);
    if (addresses_.size() >= max_addresses && !addresses_.contains(key)) {
        const auto oldest = std::ranges::min_element(addresses_, {}, [](const auto& item) {
            return std::tuple(item.second.under_way > 0, item.second.known, item.second.last_seen);
        });
        if (oldest->second.under_way == 0) addresses_.erase(oldest);
    }
    return addresses_[key];
}

void TryLimit::end(const std::string& key, bool taken, bool right) {
    const std::lock_guard lock(mutex_);
    Address& at = addresses_[key];  // the entry is kept while a try is in progress
    --at.under_way;
    at.known = right;
    if (right && taken) all_free_at_ -= password_pause;
    if (right) {
        at.wrong = at.blocks = 0;
    } else if (++at.wrong >= max_wrong) {
        at.wrong = 0;
        at.blocked_until = clock_.steady_now() + std::min(block_time * (1 << at.blocks), max_block_time);
        at.blocks = std::min(at.blocks + 1, max_doublings);
    }
}

}  // namespace svc
