#include "libsvc/services/common/instance_uses.h"

#include <utility>

namespace svc {

InstanceUses::InstanceUses(const Clock& clock) : state_(std::make_shared<State>(clock)) {}

void InstanceUses::follow(const std::string& id) {
    state_->uses.with([&](auto& all) {
        Use& use = all[id];
        use.followed = true;
        use.last = state_->clock.steady_now();
    });
}

void InstanceUses::forget(const std::string& id) {
    state_->uses.with([&](auto& all) {
        const auto found = all.find(id);
        if (found == all.end()) return;
        found->second.followed = false;
        if (found->second.holders == 0) all.erase(found);
    });
}

void InstanceUses::note(std::string_view id) {
    const bool followed = state_->uses.with([&](auto& all) {
        const auto found = all.find(id);
        if (found == all.end()) return false;
        found->second.last = state_->clock.steady_now();
        return found->second.followed;
    });
    if (followed) state_->tell(std::string(id));
}

InstanceUses::Hold InstanceUses::hold(const std::string& id) {
    state_->begin(id);
    return {nullptr, [state = state_, id](std::nullptr_t) { state->end(id); }};
}

std::optional<SteadyTime> InstanceUses::last(std::string_view id) const {
    return state_->uses.with([&](const auto& all) -> std::optional<SteadyTime> {
        const auto found = all.find(id);
        if (found == all.end() || !found->second.followed) return std::nullopt;
        return found->second.holders > 0 ? state_->clock.steady_now() : found->second.last;
    });
}

void InstanceUses::on_use(Listener listener) {
    state_->listener.with([&](auto& present) { present = std::move(listener); });
}

void InstanceUses::State::begin(const std::string& id) {
    const bool followed = uses.with([&](auto& all) {
        Use& use = all[id];
        ++use.holders;
        use.last = clock.steady_now();
        return use.followed;
    });
    if (followed) tell(id);
}

void InstanceUses::State::end(const std::string& id) {
    const bool followed = uses.with([&](auto& all) {
        const auto found = all.find(id);
        Use& use = found->second;
        use.last = clock.steady_now();
        if (--use.holders > 0 || use.followed) return use.followed;
        all.erase(found);
        return false;
    });
    if (followed) tell(id);
}

void InstanceUses::State::tell(const std::string& id) const {
    listener.with([&](const auto& present) {
        if (present) present(id);
    });
}

}  // namespace svc
