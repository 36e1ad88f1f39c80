#include "libsvc/cluster/members/looks.h"

#include <algorithm>

#include "libsvc/cluster/members/ask_all.h"

namespace svc {

namespace {

bool is_the_same(const RuntimeNode& a, const RuntimeNode& b) {
    return a.name == b.name && a.online == b.online && a.failing == b.failing && a.evacuated == b.evacuated &&
           a.managed == b.managed;
}

bool is_news(Member& member) {
    const auto before = member.nodes();
    member.keep(member.runtime().nodes());
    return !std::ranges::equal(before, member.nodes(), is_the_same);
}

}  // namespace

NodeLooks::NodeLooks(Members& members, Clock& clock, Duration pause)
    : members_(members), thread_([this, &clock, pause](const std::stop_token& stop) {
          while (clock.wait(stop, pause), !stop.stop_requested()) look();
      }) {}

void NodeLooks::look() {
    const auto news = ask_all(members_.online(), [](Member& member) { return is_news(member); });
    if (std::ranges::any_of(news, [](const auto& each) { return each.value_or(false); }))
        members_.tell_changed();
}

}  // namespace svc
