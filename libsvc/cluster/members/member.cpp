#include "libsvc/cluster/members/member.h"

namespace svc {

Member::Member(std::string name, Runtime& runtime, LayerStore& layers)
    : name_(std::move(name)), local_(&runtime), local_layers_(&layers) {}

bool Member::is_online() const {
    std::lock_guard lock(mutex_);
    return online_locked();
}

RemoteNode& Member::remote() const {
    std::lock_guard lock(mutex_);
    if (!online_locked()) throw offline();
    return *remote_;  // kept until the member ends
}

Runtime& Member::runtime() const {
    return local_ != nullptr ? *local_ : remote().runtime();
}

LayerStore& Member::layers() const {
    return local_layers_ != nullptr ? *local_layers_ : remote().layers();
}

std::string Member::address() const {
    std::lock_guard lock(mutex_);
    return address_;
}

std::string Member::fault() const {
    std::lock_guard lock(mutex_);
    return online_locked() ? "" : offline().what();
}

std::vector<RuntimeNode> Member::nodes() const {
    std::lock_guard lock(mutex_);
    std::vector<RuntimeNode> all;
    all.reserve(nodes_.size());
    for (const auto& [name, node] : nodes_) all.push_back(node);
    return all;
}

bool Member::hosts(std::string_view node) const {
    std::lock_guard lock(mutex_);
    return !node.empty() && nodes_.contains(node);
}

void Member::keep(std::vector<RuntimeNode> nodes) {
    std::lock_guard lock(mutex_);
    nodes_.clear();
    for (RuntimeNode& node : nodes) nodes_.emplace(node.name, std::move(node));
}

bool Member::lives_at(std::string_view address) const {
    std::lock_guard lock(mutex_);
    return living_ && address_ == address;
}

std::shared_ptr<RemoteNode> Member::connection_to(std::string_view address) const {
    std::lock_guard lock(mutex_);
    return address_ == address ? remote_ : nullptr;
}

// One that was offline is online when it is connected: whoever compares earlier cannot ask it.
void Member::live(std::string address, std::shared_ptr<RemoteNode> remote) {
    std::lock_guard lock(mutex_);
    if (remote_ && remote_ != remote) replaced_.push_back(remote_);
    if (!remote || remote->connected())
        link_ = Link::up;
    else if (link_ == Link::up)
        link_ = Link::shaky;
    address_ = std::move(address);
    remote_ = std::move(remote);
    living_ = true;
}

void Member::leave() {
    std::lock_guard lock(mutex_);
    living_ = false;
    link_ = Link::down;
}

void Member::connected() {
    std::lock_guard lock(mutex_);
    link_ = Link::up;
}

std::uint64_t Member::wait() {
    std::lock_guard lock(mutex_);
    if (remote_ && remote_->connected()) return waits_;
    if (link_ == Link::up) link_ = Link::shaky;
    return ++waits_;
}

void Member::give_up(std::uint64_t number) {
    std::lock_guard lock(mutex_);
    if (link_ == Link::shaky && number == waits_) link_ = Link::down;
}

void Member::end() {
    std::vector<std::shared_ptr<RemoteNode>> ended;
    std::lock_guard lock(mutex_);
    living_ = false;
    ended.swap(replaced_);
    ended.push_back(std::move(remote_));
}

}  // namespace svc
