#include "libsvc/streaming/sessions/session_listing.h"

#include <algorithm>
#include <map>

namespace svc {

namespace {

constexpr std::size_t few = 8;  // less than one in so many: a partial sort pays

using Order = int (*)(const StreamSession&, const StreamSession&);

template <auto member>
int by(const StreamSession& a, const StreamSession& b) {
    return a.*member < b.*member ? -1 : b.*member < a.*member ? 1 : 0;
}

int by_status(const StreamSession& a, const StreamSession& b) {
    return to_text(a.status).compare(to_text(b.status));
}

Order order_of(const std::string& field) {
    static const std::map<std::string, Order> orders{
        {"app", by<&StreamSession::app>},
        {"region", by<&StreamSession::region>},
        {"cluster_id", by<&StreamSession::region>},
        {"container_id", by<&StreamSession::container_id>},
        {"joinable", by<&StreamSession::joinable>},
        {"status", by_status},
        {"status_message", by<&StreamSession::status_message>},
        {"created_at", by<&StreamSession::created_at>},
        {"client_connected", by<&StreamSession::client_connected>}};
    const auto found = orders.find(field);
    return found == orders.end() ? by<&StreamSession::id> : found->second;
}

// Brings the first `count` into their places.
void sort_first(std::vector<SessionPtr>& sessions, const SessionQuery& query, std::size_t count) {
    const Order order = order_of(query.sort_by);
    const auto before = [order, descending = query.descending](const auto& one, const auto& other) {
        const StreamSession& a = descending ? *other : *one;
        const StreamSession& b = descending ? *one : *other;
        const int first = order(a, b);
        return first != 0 ? first < 0 : a.id < b.id;
    };
    const auto end = sessions.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::is_sorted(sessions.begin(), sessions.end(), before)) return;
    if (count < sessions.size() / few)
        std::partial_sort(sessions.begin(), end, sessions.end(), before);
    else
        std::sort(sessions.begin(), sessions.end(), before);
}

}  // namespace

SessionPage page_of(std::vector<SessionPtr> sessions, const SessionQuery& query) {
    SessionPage page;
    page.total = sessions.size();
    const std::size_t first = std::min(query.offset, page.total);
    const std::size_t count = std::min(query.limit.value_or(page.total), page.total - first);
    sort_first(sessions, query, first + count);
    page.sessions.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) page.sessions.push_back(*sessions[i]);
    return page;
}

}  // namespace svc
