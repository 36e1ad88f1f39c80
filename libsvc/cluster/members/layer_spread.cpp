#include "libsvc/cluster/members/layer_spread.h"

#include <algorithm>
#include <optional>

#include "libsvc/base/log.h"

namespace svc {

namespace {

// Nothing: the node does not answer.
std::optional<bool> has_all(const Member& member, const std::vector<std::string>& layers) {
    try {
        return std::all_of(layers.begin(), layers.end(),
                           [&](const std::string& each) { return member.layers().contains(each); });
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable && e.code() != ErrorCode::conflict) throw;
        log::debug("node cannot be asked for layers", {{"node", member.name()}, {"error", e.what()}});
        return std::nullopt;
    }
}

}  // namespace

LayerSpread::Search LayerSpread::search(const std::vector<std::string>& layers) const {
    Search search;
    for (const MemberPtr& each : members_.all()) search.everywhere = search.everywhere && each->is_online();
    for (const MemberPtr& each : members_.online()) {
        const auto has = has_all(*each, layers);
        if (has.value_or(false)) return {each, true};
        search.everywhere = search.everywhere && has;
    }
    return search;
}

MemberPtr LayerSpread::holder(std::string_view layer) const {
    const Search search = this->search({std::string(layer)});
    if (search.found) return search.found;
    if (search.everywhere) throw Error(ErrorCode::not_found, "layer '" + std::string(layer) + "' not found");
    throw Error(ErrorCode::unavailable, "layer '" + std::string(layer) + "' is on no node that answers");
}

void LayerSpread::bring(const MemberPtr& to, const std::vector<std::string>& layers) {
    for (const std::string& layer : layers)
        if (!to->layers().contains(layer)) bring_one(to, layer);
}

void LayerSpread::bring_one(const MemberPtr& to, const std::string& layer) {
    const Key key{to->name(), layer};
    std::promise<void> done;
    std::shared_future<void> theirs;
    {
        std::lock_guard lock(mutex_);
        const auto [found, ours] = under_way_.emplace(key, std::shared_future<void>());
        if (ours)
            found->second = done.get_future().share();
        else
            theirs = found->second;
    }
    if (theirs.valid()) return theirs.get();
    try {
        transfer(to, layer);
        done.set_value();
    } catch (...) {
        done.set_exception(std::current_exception());
    }
    std::unique_lock lock(mutex_);
    const auto ours = under_way_.extract(key).mapped();
    lock.unlock();
    ours.get();
}

void LayerSpread::transfer(const MemberPtr& to, const std::string& layer) {
    const MemberPtr from = holder(layer);
    if (from == to) return;  // another transfer has just ended
    if (!to->is_local()) return to->remote().fetch_layer(layer, from->address(), {});
    const auto packed = from->layers().pack(layer);
    to->layers().unpack(layer, *packed, {});
}

}  // namespace svc
