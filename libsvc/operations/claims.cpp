#include "libsvc/operations/claims.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "libsvc/base/error.h"

namespace svc {

void Claims::refuse_held(const std::vector<std::string>& claims) const {
    for (const std::string& claim : claims) {
        const auto queue = queues_.find(claim);
        if (queue == queues_.end()) continue;
        for (const std::string& id : queue->second)
            if (const Claimant& holder = claimants_.at(id); !holder.ending)
                throw Error(ErrorCode::busy, holder.work + " already in progress");
    }
}

std::vector<std::string> Claims::enter(const std::string& id, const std::string& work,
                                       std::vector<std::string> claims, IfHeld if_held) {
    std::sort(claims.begin(), claims.end());
    claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
    std::lock_guard lock(mutex_);
    if (if_held == IfHeld::refuse) refuse_held(claims);
    std::set<std::string> ahead;
    for (const std::string& claim : claims) {
        auto& queue = queues_[claim];
        ahead.insert(queue.begin(), queue.end());
        queue.push_back(id);
    }
    claimants_.insert_or_assign(id, Claimant{work, std::move(claims)});
    return {ahead.begin(), ahead.end()};
}

bool Claims::may_start(const std::string& id, const Claimant& claimant) const {
    if (!claimant.ready || claimant.started) return false;
    return std::all_of(claimant.claims.begin(), claimant.claims.end(),
                       [&](const std::string& claim) { return queues_.find(claim)->second.front() == id; });
}

bool Claims::ready(const std::string& id) {
    std::lock_guard lock(mutex_);
    Claimant& claimant = claimants_.at(id);
    claimant.ready = true;
    return claimant.started = may_start(id, claimant);
}

void Claims::end(const std::string& id) {
    std::lock_guard lock(mutex_);
    if (const auto claimant = claimants_.find(id); claimant != claimants_.end())
        claimant->second.ending = true;
}

std::vector<std::string> Claims::leave(const std::string& id) {
    std::lock_guard lock(mutex_);
    const auto leaving = claimants_.extract(id);
    if (leaving.empty()) return {};
    std::vector<std::string> may_start_now;
    for (const std::string& claim : leaving.mapped().claims) {
        const auto found = queues_.find(claim);
        auto& queue = found->second;
        queue.erase(std::find(queue.begin(), queue.end(), id));
        if (queue.empty()) queues_.erase(found);
    }
    for (const std::string& claim : leaving.mapped().claims) {
        const auto found = queues_.find(claim);
        if (found == queues_.end()) continue;
        const std::string& next = found->second.front();
        Claimant& claimant = claimants_.at(next);
        if (!may_start(next, claimant)) continue;
        claimant.started = true;
        may_start_now.push_back(next);
    }
    return may_start_now;
}

std::vector<std::string> Claims::behind(const std::string& id) const {
    std::lock_guard lock(mutex_);
    const auto claimant = claimants_.find(id);
    if (claimant == claimants_.end()) return {};
    std::set<std::string> waiting;
    for (const std::string& claim : claimant->second.claims) {
        const auto& queue = queues_.find(claim)->second;
        waiting.insert(std::next(std::find(queue.begin(), queue.end(), id)), queue.end());
    }
    return {waiting.begin(), waiting.end()};
}

bool Claims::held(std::string_view claim) const {
    std::lock_guard lock(mutex_);
    return queues_.find(claim) != queues_.end();
}

}  // namespace svc
