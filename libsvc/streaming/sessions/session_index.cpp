#include "libsvc/streaming/sessions/session_index.h"

#include <iterator>

namespace svc {

namespace {

std::string key_of(const std::string& region, const std::string& instance) {
    return region + "/" + instance;
}

// Most changes of a session change nothing that is counted here.
bool alike(const StreamSession& a, const StreamSession& b) {
    return a.status == b.status && a.forgotten == b.forgotten && a.region == b.region &&
           a.container_id == b.container_id;
}

}  // namespace

void SessionIndex::note(const StreamSession* before, const StreamSession* after) {
    if (before != nullptr && after != nullptr && alike(*before, *after)) return;
    state_.with([&](State& state) {
        if (before != nullptr) take_away(state, *before);
        if (after != nullptr) add(state, *after);
    });
}

void SessionIndex::add(State& state, const StreamSession& session) {
    if (session.status != SessionStatus::terminated) ++state.open[session.region];
    if (!session.forgotten) ++state.by_status[session.status];
    if (!session.container_id.empty())
        state.by_instance.emplace(key_of(session.region, session.container_id), session.id);
}

void SessionIndex::take_away(State& state, const StreamSession& session) {
    if (session.status != SessionStatus::terminated && --state.open[session.region] == 0)
        state.open.erase(session.region);
    if (!session.forgotten) --state.by_status[session.status];
    if (session.container_id.empty()) return;
    auto [one, end] = state.by_instance.equal_range(key_of(session.region, session.container_id));
    while (one != end) one = one->second == session.id ? state.by_instance.erase(one) : std::next(one);
}

std::size_t SessionIndex::open_in(const std::string& region) const {
    return state_.with([&](const State& state) {
        const auto found = state.open.find(region);
        return found == state.open.end() ? 0 : found->second;
    });
}

std::map<SessionStatus, std::size_t> SessionIndex::counts() const {
    using enum SessionStatus;
    auto counts = state_.with([](const State& state) { return state.by_status; });
    counts.merge(std::map<SessionStatus, std::size_t>{
        {created, 0}, {active, 0}, {error, 0}, {terminating, 0}, {terminated, 0}});
    return counts;
}

std::vector<std::string> SessionIndex::sessions_of(const std::string& region,
                                                   const std::string& instance) const {
    return state_.with([&](const State& state) {
        std::vector<std::string> ids;
        const auto [begin, end] = state.by_instance.equal_range(key_of(region, instance));
        for (auto one = begin; one != end; ++one) ids.push_back(one->second);
        return ids;
    });
}

}  // namespace svc
