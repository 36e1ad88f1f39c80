#include "libsvc/cluster/members/members.h"

#include <algorithm>

#include "libsvc/base/log.h"

namespace svc {

// Shared with callbacks that may still run when their source has let them go. The locks are held during a
// call, so that whoever removes its listener knows that it is called no more.
struct Members::Listeners {
    std::mutex changed_mutex, event_mutex;
    std::function<void()> changed;
    std::function<void(const RuntimeEvent&)> event;

    void tell(const RuntimeEvent& told) {
        std::lock_guard lock(event_mutex);
        if (event) event(told);
    }
    void tell_changed() {
        std::lock_guard lock(changed_mutex);
        if (changed) changed();
    }
};

Members::Members(ClusterRuntimeParts& parts)
    : parts_(parts),
      local_runtime_(parts.local, [this] { return enter_local(); }),
      local_layers_(parts.local_layers, [this] { return enter_local(); }),
      local_(std::make_shared<Member>(parts.membership.self().name, local_runtime_, local_layers_)),
      listeners_(std::make_shared<Listeners>()),
      timer_(parts.clock, "cluster-nodes") {
    members_[local_->name()] = local_;
    for (const std::string& name : parts_.known_nodes) known(name);
    for (const auto& [container, name] : parts_.placed) known(name);
    events_ =
        parts_.local_events.subscribe([to = listeners_](const RuntimeEvent& event) { to->tell(event); });
    if (parts_.term != 0) lead(parts_.term);
}

void Members::lead(std::uint64_t term) {
    parts_.term = term;
    term_ = term;
    membership_ = parts_.membership.on_change([this] { (void)worker_.post([this] { follow(); }); });
    follow();
}

// Before it leads, this manager has a runtime of its own.
std::shared_ptr<void> Members::enter_local() const {
    const std::uint64_t term = term_;
    return term == 0 || !parts_.enter ? nullptr : parts_.enter(term);
}

Members::~Members() {
    membership_.reset();
    events_.reset();
    on_changed(nullptr);
    on_event(nullptr);
    worker_.stop();
    for (const MemberPtr& member : all()) member->end();  // they refer to each other until then
}

MemberPtr Members::known(const std::string& name) {
    std::lock_guard lock(mutex_);
    MemberPtr& member = members_[name.empty() ? local_->name() : name];
    if (!member) member = std::make_shared<Member>(name);
    return member;
}

std::vector<MemberPtr> Members::all() const {
    std::vector<MemberPtr> all;
    std::lock_guard lock(mutex_);
    for (const auto& [name, member] : members_) all.push_back(member);
    return all;
}

std::vector<MemberPtr> Members::online() const {
    std::vector<MemberPtr> online = all();
    std::erase_if(online, [](const MemberPtr& each) { return !each->is_online(); });
    std::stable_partition(online.begin(), online.end(),
                          [](const MemberPtr& each) { return each->is_local(); });
    return online;
}

MemberPtr Members::get(std::string_view name) const {
    if (name.empty()) return local_;
    std::lock_guard lock(mutex_);
    if (const auto found = members_.find(name); found != members_.end()) return found->second;
    for (const auto& [own, member] : members_)
        if (member->hosts(name)) return member;
    // Of a record: its manager was away when this one began to lead.
    throw Error(ErrorCode::unavailable, "node " + std::string(name) + " is offline");
}

void Members::on_changed(std::function<void()> listener) {
    std::lock_guard lock(listeners_->changed_mutex);
    listeners_->changed = std::move(listener);
}

void Members::on_event(std::function<void(const RuntimeEvent&)> listener) {
    std::lock_guard lock(listeners_->event_mutex);
    listeners_->event = std::move(listener);
}

// Listeners may take their time, and call nodes.
void Members::tell_changed() {
    (void)worker_.post([to = listeners_] { to->tell_changed(); });
}

void Members::follow() {
    const std::vector<Manager> managers = parts_.membership.managers();
    for (const Manager& manager : managers) bring(manager);
    for (const MemberPtr& member : all()) {
        const bool lives = std::any_of(managers.begin(), managers.end(),
                                       [&](const Manager& each) { return each.name == member->name(); });
        if (lives || member->is_local()) continue;
        const bool news = member->is_online();
        member->leave();
        if (news) tell_changed();
    }
}

void Members::bring(const Manager& manager) {
    if (manager.name == local_->name()) return local_->live(manager.address, nullptr);
    const MemberPtr member = known(manager.name);
    if (member->lives_at(manager.address)) return;
    try {
        auto remote = member->connection_to(manager.address);
        if (!remote) remote = connect(member, manager);
        member->live(manager.address, std::move(remote));
        expect(member);
        tell_changed();
    } catch (const Error& e) {
        log::debug("node has no usable address", {{"node", manager.name}, {"error", e.what()}});
    }
}

std::shared_ptr<RemoteNode> Members::connect(const MemberPtr& member, const Manager& manager) {
    RemoteNodeOptions options;
    options.name = manager.name;
    options.target = peer_target(parts_.identity, manager.address);
    options.term = [term = parts_.term] { return term; };
    options.may_begin = parts_.may_begin;
    options.times = parts_.times;
    if (parts_.on_call)
        options.called = [tell = parts_.on_call, name = manager.name](bool answered) {
            tell(name, answered);
        };
    if (parts_.on_outdated)
        options.outdated = [tell = parts_.on_outdated, name = manager.name](std::uint64_t term) {
            tell(name, term);
        };
    options.connected = [this, member] { greet(member); };
    options.lost = [this, member](const std::string& why) {
        log::debug("connection to a node is lost", {{"node", member->name()}, {"reason", why}});
        expect(member);
    };
    auto remote = std::make_shared<RemoteNode>(std::move(options));
    remote->runtime().on_event([to = listeners_](const RuntimeEvent& event) { to->tell(event); });
    return remote;
}

// What has happened while there was no connection is found by those who compare: they are told.
void Members::greet(const MemberPtr& member) {
    member->connected();
    try {
        member->keep(member->runtime().nodes());
    } catch (const Error& e) {
        log::debug("node does not tell what it is", {{"node", member->name()}, {"error", e.what()}});
    }
    tell_changed();
}

void Members::expect(const MemberPtr& member) {
    timer_.after(parts_.patience, [this, member, number = member->wait()] {
        const bool was = member->is_online();
        member->give_up(number);
        if (was && !member->is_online()) tell_changed();
    });
}

}  // namespace svc
