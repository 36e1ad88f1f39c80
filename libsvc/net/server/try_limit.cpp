#include "libsvc/net/server/try_limit.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/net/socket/network_of.h"

namespace svc {

namespace {

constexpr int max_wrong = 5;
constexpr std::chrono::seconds block_time{10};
constexpr std::chrono::minutes forget_time{10};  // since the last try
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
    if (secret == Secret::password) take_from_all(now);
    ++at.under_way;
    at.last_seen = now;
    return std::make_unique<Attempt>(*this, key, secret);
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

void TryLimit::end(const std::string& key, Secret secret, bool right) {
    const std::lock_guard lock(mutex_);
    Address& at = addresses_[key];  // the entry is kept while a try is in progress
    --at.under_way;
    if (right && secret == Secret::password) all_free_at_ -= password_pause;
    if (right) {
        at.wrong = 0;
    } else if (++at.wrong >= max_wrong) {
        at.wrong = 0;
        at.blocked_until = clock_.steady_now() + block_time;
    }
}

}  // namespace svc
