#pragma once
// The same question to several nodes at once.
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/cluster/members/member.h"

namespace svc {

// The answers in the order of `members`; nothing of those that do not answer, which takes some seconds at
// most. `ask` runs on several threads.
template <class Ask>
auto ask_all(const std::vector<MemberPtr>& members, Ask&& ask) {
    using Answer = decltype(ask(*members.front()));
    std::vector<std::optional<Answer>> answers(members.size());
    const auto one = [&](std::size_t i) {
        try {
            answers[i] = ask(*members[i]);
        } catch (const std::exception& e) {
            log::debug("node does not answer", {{"node", members[i]->name()}, {"error", e.what()}});
        }
    };
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < members.size(); ++i) others.emplace_back(one, i);
    if (!members.empty()) one(0);
    others.clear();
    return answers;
}

}  // namespace svc
