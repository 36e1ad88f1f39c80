#include "libsvc/cluster/cluster_runtime.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/cluster/cluster_layers.h"
#include "libsvc/cluster/members/ask_all.h"
#include "libsvc/cluster/members/layer_spread.h"
#include "libsvc/cluster/members/looks.h"
#include "libsvc/cluster/members/places.h"

namespace svc {

namespace {

// The names of containers' nodes depend on them: a new leader asks before it asks for containers.
void learn_nodes(Member& member) {
    if (member.nodes().empty()) member.keep(member.runtime().nodes());
}

// A machine of a simulation has its own name, any other that of its manager.
const std::string& name_of(const Member& member, const std::string& node) {
    return member.hosts(node) ? node : member.name();
}

ContainerInfo out_of_reach(const std::string& id, const Member& node) {
    ContainerInfo info;
    info.id = id;
    info.node = node.name();
    info.state = ContainerState::unreadable;
    const std::string fault = node.fault();
    info.fault = fault.empty() ? "node " + node.name() + " does not answer" : fault;
    return info;
}

// Of one that is known by name alone, so far, the capacity is empty.
std::vector<RuntimeNode> nodes_of(const Member& member, bool answers) {
    std::vector<RuntimeNode> nodes = member.nodes();
    if (nodes.empty()) nodes.emplace_back();
    for (RuntimeNode& node : nodes) {
        if (node.name.empty()) node.name = member.name();
        if (const std::string fault = member.fault(); !fault.empty())
            node.fault = "node " + node.name + " is offline";
        else if (!answers)
            node.fault = "node " + node.name + " does not answer";
        node.online = node.fault.empty();
        node.failing = node.failing && member.fault().empty();
    }
    return nodes;
}

// Whether an error is of the way to a node, and tells nothing of the container.
bool is_of_the_way(const Error& e) {
    return e.code() == ErrorCode::unavailable || e.code() == ErrorCode::conflict;
}

}  // namespace

class ClusterRuntime::Containers final : public Runtime {
  public:
    Containers(Members& members, LayerSpread& spread, Places& places)
        : members_(members), spread_(spread), places_(places) {}

    void create(const ContainerSpec& spec) override {
        const MemberPtr node = members_.get(spec.node);
        Runtime& runtime = node->runtime();
        spread_.bring(node, spec.layers);
        places_.set(spec.id, node->name());
        runtime.create(spec);
    }
    void recreate_spec(const ContainerSpec& spec) override {
        const MemberPtr node = members_.get(spec.node);
        places_.set(spec.id, node->name());
        node->runtime().recreate_spec(spec);
    }
    void start(std::string_view id) override { of(id).start(id); }
    void stop(std::string_view id, Duration grace) override { of(id).stop(id, grace); }
    void freeze(std::string_view id) override { of(id).freeze(id); }
    void thaw(std::string_view id) override { of(id).thaw(id); }
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override {
        return of(id).run_once(id, command, limit, std::move(stop));
    }
    void remove(std::string_view id) override {
        const MemberPtr node = locate(id);
        if (node) node->runtime().remove(id);
        places_.forget(id);
    }
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    std::optional<ContainerSpec> specification(std::string_view id) override {
        const MemberPtr node = locate(id);
        if (!node) return std::nullopt;
        return node->runtime().specification(id);
    }
    std::vector<ContainerUsage> usage() override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override {
        return of(id).exec(id, spec);
    }
    std::vector<LogFile> logs(std::string_view id) override {
        const MemberPtr node = locate(id);
        return node ? node->runtime().logs(id) : std::vector<LogFile>();
    }
    Capacity capacity() override { return members_.local()->runtime().capacity(); }
    std::vector<RuntimeNode> nodes() override;
    void forward_from(std::string_view node, const std::string& public_address) override {
        const MemberPtr member = members_.get(node);
        member->runtime().forward_from(node, public_address);
        member->keep(member->runtime().nodes());  // else the former address is told until the next look
    }
    void on_nodes_changed(std::function<void()> listener) override {
        members_.on_changed(std::move(listener));
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override {
        members_.on_event(std::move(listener));
    }

    MemberPtr node_of(std::string_view id);  // throws not_found

  private:
    MemberPtr locate(std::string_view id);  // null: no node that answers has it
    Runtime& of(std::string_view id) { return node_of(id)->runtime(); }
    std::vector<ContainerInfo> taken(const Member& node, std::optional<std::vector<ContainerInfo>> answer);

    Members& members_;
    LayerSpread& spread_;
    Places& places_;
};

MemberPtr ClusterRuntime::Containers::locate(std::string_view id) {
    if (const auto known = places_.find(id)) return members_.get(*known);
    const auto online = members_.online();
    const auto answers =
        ask_all(online, [&](const Member& each) { return each.runtime().inspect(id).has_value(); });
    for (std::size_t i = 0; i < online.size(); ++i)
        if (answers[i].value_or(false)) {
            places_.set(std::string(id), online[i]->name());
            return online[i];
        }
    return nullptr;
}

MemberPtr ClusterRuntime::Containers::node_of(std::string_view id) {
    MemberPtr node = locate(id);
    if (!node) throw Error(ErrorCode::not_found, "container " + quoted(id) + " not found");
    return node;
}

std::optional<ContainerInfo> ClusterRuntime::Containers::inspect(std::string_view id) {
    const MemberPtr node = locate(id);
    if (!node) return std::nullopt;
    try {
        learn_nodes(*node);
        auto info = node->runtime().inspect(id);
        if (info) info->node = name_of(*node, info->node);
        return info;
    } catch (const Error& e) {
        if (!is_of_the_way(e)) throw;
        return out_of_reach(std::string(id), *node);
    }
}

std::vector<ContainerInfo> ClusterRuntime::Containers::taken(
    const Member& node, std::optional<std::vector<ContainerInfo>> answer) {
    if (answer) {
        for (ContainerInfo& info : *answer) {
            info.node = name_of(node, info.node);
            places_.set(info.id, node.name());
        }
        return *std::move(answer);
    }
    std::vector<ContainerInfo> last_known;
    for (const std::string& id : places_.of(node.name())) last_known.push_back(out_of_reach(id, node));
    return last_known;
}

std::vector<ContainerInfo> ClusterRuntime::Containers::list() {
    const auto nodes = members_.all();
    auto answers = ask_all(nodes, [](Member& each) {
        learn_nodes(each);
        return each.runtime().list();
    });
    std::vector<ContainerInfo> all;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (ContainerInfo& info : taken(*nodes[i], std::move(answers[i]))) all.push_back(std::move(info));
    return all;
}

std::vector<ContainerUsage> ClusterRuntime::Containers::usage() {
    std::vector<ContainerUsage> all;
    for (auto& answer : ask_all(members_.online(), [](const Member& each) { return each.runtime().usage(); }))
        if (answer) std::move(answer->begin(), answer->end(), std::back_inserter(all));
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return all;
}

std::vector<RuntimeNode> ClusterRuntime::Containers::nodes() {
    const auto members = members_.all();
    const auto answers = ask_all(members, [](Member& each) {
        if (each.is_local() || each.nodes().empty()) each.keep(each.runtime().nodes());
        return true;
    });
    std::vector<RuntimeNode> all;
    for (std::size_t i = 0; i < members.size(); ++i)
        for (RuntimeNode& node : nodes_of(*members[i], answers[i].has_value()))
            all.push_back(std::move(node));
    return all;
}

struct ClusterRuntime::State {
    explicit State(ClusterRuntimeParts given)
        : parts(std::move(given)),
          places(parts.placed),
          members(parts),
          spread(members),
          containers(members, spread, places),
          layers(members, spread, [this](std::string_view id) { return containers.node_of(id); }) {}
    ClusterRuntimeParts parts;
    Places places;
    Members members;
    LayerSpread spread;
    Containers containers;
    ClusterLayers layers;
    std::unique_ptr<NodeLooks> looks;  // last: has a thread that uses the rest
};

ClusterRuntime::ClusterRuntime(ClusterRuntimeParts parts)
    : state_(std::make_unique<State>(std::move(parts))) {}
ClusterRuntime::~ClusterRuntime() = default;

void ClusterRuntime::lead(std::uint64_t term) {
    state_->members.lead(term);
    state_->looks =
        std::make_unique<NodeLooks>(state_->members, state_->parts.clock, state_->parts.look_again);
}

Runtime& ClusterRuntime::runtime() {
    return state_->containers;
}

LayerStore& ClusterRuntime::layers() {
    return state_->layers;
}

}  // namespace svc
