#include "libsvc/services/trust/try_limit.h"

#include <arpa/inet.h>

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr int max_wrong = 5;
constexpr std::chrono::seconds block_time{10};
constexpr std::chrono::minutes forget_time{10};  // since the last try
constexpr std::size_t max_addresses = 4096;
constexpr std::size_t network_bytes = 8;

// One machine can use every address of its IPv6 network.
std::string network_of(std::string_view address) {
    in6_addr binary{};
    if (inet_pton(AF_INET6, std::string(address).c_str(), &binary) != 1) return std::string(address);
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&binary);
    const std::string bytes(reinterpret_cast<const char*>(binary.s6_addr),
                            mapped ? sizeof(binary.s6_addr) : network_bytes);
    return to_hex(bytes);
}

}  // namespace

std::unique_ptr<TryLimit::Attempt> TryLimit::begin(std::string_view address) {
    const std::string key = network_of(address);
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady_now();
    Address& at = entry(key, now);
    if (at.blocked_until > now || at.wrong + at.under_way >= max_wrong)
        throw Error(ErrorCode::forbidden, "too many wrong passwords: try again in 10 seconds");
    auto attempt = std::make_unique<Attempt>(*this, key);
    ++at.under_way;
    at.last_seen = now;
    return attempt;
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

void TryLimit::end(const std::string& key, bool right) {
    const std::lock_guard lock(mutex_);
    Address& at = addresses_[key];  // the entry is kept while a try is in progress
    --at.under_way;
    if (right) {
        at.wrong = 0;
    } else if (++at.wrong >= max_wrong) {
        at.wrong = 0;
        at.blocked_until = clock_.steady_now() + block_time;
    }
}

}  // namespace svc
