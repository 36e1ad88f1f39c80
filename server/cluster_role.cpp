#include "server/cluster_role.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/cluster/blob_routes.h"
#include "server/blob_choice.h"
#include "server/cluster/api_addresses.h"
#include "server/http/instance_network.h"
#include "server/metrics/cluster_metrics.h"
#include "server/process/patience.h"
#include "server/process/restart.h"

namespace svc::server {

namespace {

// A client at an address of that machine, or of an instance there.
bool comes_from(const PeerNetwork& machine, const Peer& peer) {
    return peer.address == machine.address || std::ranges::count(machine.addresses, peer.address) > 0 ||
           InstanceNetwork(machine.subnet, "").contains(peer);
}

}  // namespace

bool joins_lxd(const Options& options) {
    return options.runtime == "lxd" && options.lxd.join;
}

ClusterRole::ClusterRole(ClusterRoleParts parts)
    : parts_(std::move(parts)),
      leadership_(membership()),
      network_(make_network()),
      packages_(make_packages()),
      guests_(make_guests()),
      lxd_(make_lxd()) {}

ClusterRole::~ClusterRole() = default;

std::unique_ptr<MachineNetwork> ClusterRole::make_network() {
    Options& options = parts_.options;
    if (options.store != "etcd") return nullptr;
    auto made = process::when_it_answers("etcd", parts_.clock, [&] {
        auto network = std::make_unique<MachineNetwork>(options, parts_.state, parts_.clock);
        network->settle(options.lxc);
        return network;
    });
    options.simulated.part = options.lxc.subnet;
    machines_.with([&](Machines& known) { known = options.lxc.peers; });
    return made;
}

std::unique_ptr<ClusterBlobs> ClusterRole::make_packages() {
    if (!copies_packages(parts_.options)) return nullptr;
    ClusterBlobsOptions made;
    made.enter = [this](std::uint64_t term) { return machine_->enter(term); };
    return std::make_unique<ClusterBlobs>(parts_.own_packages, membership(), identity(), made);
}

std::unique_ptr<SimulatedGuests> ClusterRole::make_guests() {
    if (parts_.options.runtime != "simulated") return nullptr;
    return std::make_unique<SimulatedGuests>(leadership_, parts_.reports, identity());
}

std::unique_ptr<LxdMembership> ClusterRole::make_lxd() {
    Options& options = parts_.options;
    if (!joins_lxd(options)) return nullptr;
    auto made = process::when_it_answers("etcd", parts_.clock, [&] {
        return std::make_unique<LxdMembership>(
            LxdMembershipParts{options, parts_.state, parts_.clock, leadership_, identity()});
    });
    made->settle(options.lxd);
    return made;
}

// It is in the state directory since the store was opened.
PeerIdentity ClusterRole::identity() const {
    return {parts_.state.server_keys(), TlsContext(parts_.state.server_keys()).fingerprint()};
}

void ClusterRole::run(BuiltRuntime& own) {
    own_ = own.runtime.get();
    set_peers_ = own.set_peers;
    machine_ = std::make_unique<Machine>(
        MachineParts{membership(), *own.runtime, *own.layers, identity(), parts_.state.term(),
                     parts_.state.node_packages(), parts_.clock, [this] { return parts_.candidacy.leads(); },
                     parts_.begin_anew, node_calls(parts_.metrics)});
}

BlobStore& ClusterRole::packages() {
    return packages_ ? *packages_ : parts_.own_packages;
}

GuestIsUp ClusterRole::guest_is_up() {
    if (!guests_) return {};
    return [this](std::string_view id) { guests_->running(id); };
}

std::vector<Route> ClusterRole::serve(ManagementService& management, const EventRows& rows,
                                      const Authenticator& authenticator, Pacer& pacer) {
    management_ = &management;
    front_ = std::make_unique<Front>(
        FrontParts{parts_.candidacy, leadership_, rows, parts_.clock, parts_.metrics, authenticator,
                   management.sessions(), pacer, [this] { return identity(); }},
        parts_.options.leader_patience);
    return routes(management.nodes());
}

std::vector<Route> ClusterRole::routes(NodeService& nodes) {
    std::vector<Route> routes = machine_->routes();
    const auto add = [&](std::vector<Route> more) { std::ranges::move(more, std::back_inserter(routes)); };
    add(front_->routes());
    add(blob_routes(parts_.own_packages, machine_->guard()));
    if (guests_) add(guests_->routes());
    if (lxd_) add(lxd_->routes([&nodes](const std::string& name) { return nodes.admit(name); }));
    return routes;
}

void ClusterRole::start(const Addresses& addresses, std::function<void()> recover,
                        std::function<void()> begin) {
    if (network_) network_->follow(membership(), network_calls());
    if (guests_) guests_->follow(*own_);
    front_->start(
        addresses.manager, addresses.api,
        [this, recover = std::move(recover)](std::uint64_t term) { lead(term, recover); }, std::move(begin));
}

NetworkCalls ClusterRole::network_calls() {
    NetworkCalls calls;
    calls.tell = [this](const Machines& others) {
        machines_.with([&](Machines& known) { known = others; });
        if (set_peers_) set_peers_(others);
    };
    calls.is_node = [this](const std::string& name) { return may_be_node(name); };
    calls.lost = [] { process::restart_self("its part of the instances' network is another machine's"); };
    return calls;
}

// A record that cannot be read may be that of the node.
bool ClusterRole::may_be_node(const std::string& name) const {
    return !management_->unreadable().list().empty() ||
           std::ranges::any_of(management_->nodes().list(),
                               [&](const auto& node) { return node->name == name; });
}

// A leader that cannot read the records is none.
void ClusterRole::lead(std::uint64_t term, const std::function<void()>& recover) try {
    machine_->lead(term);
    recover();
    log::info("this manager leads");
} catch (const Error& e) {
    log::error("this manager cannot lead", {{"error", e.what()}});
    parts_.begin_anew();
    throw;
}

void ClusterRole::resign() {
    network_.reset();
    if (front_) front_->resign();
}

void ClusterRole::stop_machine() {
    if (guests_) guests_->stop();
    if (machine_) machine_->stop();
}

void ClusterRole::stop_front() {
    if (front_) front_->stop();
}

// Instances reach other machines with their machine's address, this one's among them: it may come back.
bool ClusterRole::is_elsewhere(const Peer& peer) const {
    return std::ranges::any_of(membership().managers(),
                               [&](const Manager& m) { return host_in(m.address) == peer.address; }) ||
           machines_.with([&](const Machines& known) {
               return std::ranges::any_of(
                   known, [&](const PeerNetwork& machine) { return comes_from(machine, peer); });
           });
}

std::vector<std::string> ClusterRole::api_of_managers() const {
    return api_of_all(membership());
}

void ClusterRole::describe(ManagerMetricsParts& parts) const {
    parts.name = membership().self().name;
    parts.membership = &membership();
    parts.leads = [this] { return leads() && parts_.candidacy.leads(); };
    parts.packages = packages_.get();
}

}  // namespace svc::server
