#include "libsvc/services/trust/login_links.h"

#include <algorithm>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr std::size_t max_links = 100;
constexpr std::ptrdiff_t max_links_of_user = 5;
constexpr std::chrono::minutes link_validity{1};

}  // namespace

IssuedLink LoginLinks::issue(LinkGrant grant) {
    const std::lock_guard lock(mutex_);
    forget_expired();
    if (links_.size() >= max_links)
        throw Error(ErrorCode::exhausted, "too many open links: try again in a minute");
    if (links_of(grant) >= max_links_of_user)
        throw Error(ErrorCode::exhausted, "too many open links of " + grant.name + ": try again in a minute");
    IssuedLink issued{ids_.secret(), clock_.now() + link_validity};
    links_[sha256_hex(issued.secret)] = {std::move(grant), issued.expires_at};
    return issued;
}

std::optional<LinkGrant> LoginLinks::use(std::string_view secret) {
    const std::lock_guard lock(mutex_);
    forget_expired();
    auto link = links_.extract(sha256_hex(secret));
    if (link.empty()) return {};
    return std::move(link.mapped().grant);
}

void LoginLinks::drop_of(std::string_view session) {
    const std::lock_guard lock(mutex_);
    std::erase_if(links_, [&](const auto& each) { return each.second.grant.session == session; });
}

std::ptrdiff_t LoginLinks::links_of(const LinkGrant& user) const {
    return std::ranges::count_if(links_, [&](const auto& each) {
        const LinkGrant& grant = each.second.grant;
        return grant.name == user.name && grant.certificate == user.certificate;
    });
}

void LoginLinks::forget_expired() {
    std::erase_if(links_, [now = clock_.now()](const auto& each) { return each.second.expires_at <= now; });
}

}  // namespace svc
