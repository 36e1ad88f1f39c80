#include "libsvc/cluster/instance_network.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::chrono::seconds look_again{10};

std::vector<PeerNetwork> read_parts(const etcd::Allotment::Shares& shares, const std::string& without) {
    std::vector<PeerNetwork> parts;
    for (const auto& [owner, value] : shares)
        if (owner != without)
            parts.push_back(with_context("the network of manager " + owner,
                                         [&, text = &value] { return part_from_json(Json::parse(*text)); }));
    return parts;
}

std::vector<lxc::Subnet> subnets_of(const std::vector<PeerNetwork>& parts) {
    std::vector<lxc::Subnet> subnets;
    for (const PeerNetwork& part : parts) subnets.push_back(lxc::parse_subnet(part.subnet));
    return subnets;
}

std::string text_of(const PeerNetwork& part, const std::string& name) {
    Json json = part_to_json(part);
    json.set("name", name);
    return json.dump();
}

// "": an earlier version has written it.
std::string name_in(const std::string& part) {
    return JsonFields(Json::parse(part)).string("name").value_or("");
}

std::vector<lxc::InterfaceAddress> addresses_beside(const std::string& bridge) {
    std::vector<lxc::InterfaceAddress> addresses = lxc::interface_addresses();
    std::erase_if(addresses, [&](const lxc::InterfaceAddress& each) {
        return each.interface == bridge || each.subnet.address >> 24 == 127;
    });
    return addresses;
}

}  // namespace

struct InstanceNetwork::Bell {
    std::mutex mutex;
    std::condition_variable_any rung;
    bool ringing = true;  // the first time at once
    void ring() {
        const std::lock_guard lock(mutex);
        ringing = true;
        rung.notify_all();
    }
};

InstanceNetwork::InstanceNetwork(etcd::Cluster& cluster, const std::string& root, std::string manager,
                                 std::string name)
    : parts_(cluster, root + "cluster/subnets/"),
      manager_(std::move(manager)),
      name_(std::move(name)),
      bell_(std::make_shared<Bell>()) {}
InstanceNetwork::~InstanceNetwork() = default;

std::string InstanceNetwork::take(const NetworkPlan& plan, const std::string& address,
                                  const std::string& bridge) {
    PeerNetwork own{"", address, {}};
    std::vector<lxc::Subnet> local;
    for (const lxc::InterfaceAddress& each : addresses_beside(bridge)) {
        local.push_back(each.subnet);
        own.addresses.push_back(lxc::ipv4_text(each.subnet.address));
    }
    own_ = parts_.take(manager_, [&](const etcd::Allotment::Shares& all) {
        const auto former = all.find(manager_);
        own.subnet =
            choose_part(plan, former == all.end() ? "" : part_from_json(Json::parse(former->second)).subnet,
                        subnets_of(read_parts(all, manager_)), local);
        return text_of(own, name_);
    });
    return own.subnet;
}

std::vector<PeerNetwork> InstanceNetwork::others() const {
    return read_parts(parts_.list(), manager_);
}

void InstanceNetwork::follow(Membership& membership, NetworkCalls calls) {
    changes_ = membership.on_change([bell = bell_] { bell->ring(); });
    thread_ = std::jthread([this, &membership, calls = std::move(calls)](const std::stop_token& stop) {
        run(stop, membership, calls);
    });
}

void InstanceNetwork::run(const std::stop_token& stop, const Membership& membership,
                          const NetworkCalls& calls) {
    UnusedParts unused(calls.patience);
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(bell_->mutex);
            bell_->rung.wait_for(lock, stop, look_again, [this] { return bell_->ringing; });
            if (stop.stop_requested()) return;
            bell_->ringing = false;
        }
        try {
            look(membership, calls, unused);
        } catch (const Error& e) {
            log::warning("the networks of other machines are not known", {{"error", e.what()}});
        }
    }
}

void InstanceNetwork::look(const Membership& membership, const NetworkCalls& calls, UnusedParts& unused) {
    const etcd::Allotment::Shares all = parts_.list();
    if (!own_.empty() && !all.contains(manager_)) take_again(calls);
    calls.tell(read_parts(all, manager_));
    release_unused(all, membership, calls, unused);
}

// It was given back while this manager was away: its node had been removed.
void InstanceNetwork::take_again(const NetworkCalls& calls) {
    const lxc::Subnet own = lxc::parse_subnet(part_from_json(Json::parse(own_)).subnet);
    try {
        parts_.take(manager_, [&](const etcd::Allotment::Shares& all) {
            for (const lxc::Subnet& other : subnets_of(read_parts(all, manager_)))
                if (own.overlaps(other))
                    throw Error(ErrorCode::conflict, "another manager has it, or a part of it");
            return own_;
        });
        log::info("this machine has taken its part of the instances' network again");
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict) throw;
        log::error("this machine's part of the instances' network was given back while it was away",
                   {{"subnet", own.network_text()}, {"error", e.what()}});
        calls.lost();
    }
}

void InstanceNetwork::release_unused(const etcd::Allotment::Shares& all, const Membership& membership,
                                     const NetworkCalls& calls, UnusedParts& unused) {
    std::set<std::string> without_use;
    const auto leader = membership.leader();
    const bool leads = leader && leader->id == manager_;
    for (const auto& [owner, part] : all) {
        const std::string name = name_in(part);
        const bool lives = owner == manager_ || find_manager(membership, owner);
        if (leads && !lives && !name.empty() && !calls.is_node(name)) without_use.insert(owner);
    }
    for (const std::string& owner : unused.due(without_use, std::chrono::steady_clock::now())) {
        parts_.release(owner);
        log::info("part of the instances' network given back: its node was removed",
                  {{"node", name_in(all.at(owner))}});
    }
}

}  // namespace svc
