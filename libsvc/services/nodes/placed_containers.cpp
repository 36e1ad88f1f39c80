#include "libsvc/services/nodes/placed_containers.h"

#include <set>
#include <utility>

#include "libsvc/base/error.h"

namespace svc {

namespace {

ContainerInfo out_of_reach(const Instance& instance, const std::string& fault) {
    ContainerInfo info;
    info.id = instance.id.str();
    info.node = *instance.node;
    info.state = ContainerState::unreadable;
    info.fault = fault;
    return info;
}

}  // namespace

PlacedContainers::Faults PlacedContainers::faults() const {
    Faults all;
    for (const RuntimeNode& machine : inner_.nodes()) {
        if (machine.name.empty()) return {};  // the only machine: what it does not know is not there
        const std::string text =
            machine.fault.empty() ? "node " + machine.name + " is offline" : machine.fault;
        all.emplace(machine.name, machine.online ? "" : text);
    }
    return all;
}

std::string PlacedContainers::fault_of(const Faults& faults, const std::string& node) {
    if (faults.empty() || node.empty()) return "";
    const auto found = faults.find(node);
    return found == faults.end() ? "node " + node + " is offline" : found->second;
}

std::string PlacedContainers::fault_of(std::string_view id) const {
    const auto instance = instances_.find(id);
    return instance ? fault_of(faults(), instance->node) : "";
}

template <class Call>
auto PlacedContainers::ask(std::string_view id, Call call) {
    try {
        return call();
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        if (const std::string fault = fault_of(id); !fault.empty())
            throw Error(ErrorCode::unavailable, fault);
        throw;
    }
}

void PlacedContainers::recreate_spec(const ContainerSpec& spec) {
    ask(spec.id, [&] { inner_.recreate_spec(spec); });
}

void PlacedContainers::start(std::string_view id) {
    ask(id, [&] { inner_.start(id); });
}

void PlacedContainers::stop(std::string_view id, Duration grace) {
    ask(id, [&] { inner_.stop(id, grace); });
}

void PlacedContainers::freeze(std::string_view id) {
    ask(id, [&] { inner_.freeze(id); });
}

void PlacedContainers::thaw(std::string_view id) {
    ask(id, [&] { inner_.thaw(id); });
}

int PlacedContainers::run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                               std::stop_token stop) {
    return ask(id, [&] { return inner_.run_once(id, command, limit, stop); });
}

std::unique_ptr<ExecProcess> PlacedContainers::exec(std::string_view id, const ExecSpec& spec) {
    return ask(id, [&] { return inner_.exec(id, spec); });
}

// The removal of a container that the runtime does not know succeeds, so the node is looked at before. The
// record of a node that is online spares that.
void PlacedContainers::remove(std::string_view id) {
    const auto instance = instances_.find(id);
    const auto node = instance ? nodes_.find(*instance->node) : nullptr;
    if (instance && (!node || node->status != NodeStatus::online))
        if (const std::string fault = fault_of(id); !fault.empty())
            throw Error(ErrorCode::unavailable, fault);
    inner_.remove(id);
}

std::optional<ContainerInfo> PlacedContainers::inspect(std::string_view id) {
    if (auto info = inner_.inspect(id)) return info;
    const auto instance = instances_.find(id);
    if (!instance) return std::nullopt;
    const std::string fault = fault_of(faults(), instance->node);
    return fault.empty() ? std::nullopt : std::optional(out_of_reach(*instance, fault));
}

std::vector<ContainerInfo> PlacedContainers::list() {
    auto all = inner_.list();
    const Faults known = faults();
    if (known.empty()) return all;
    std::set<std::string, std::less<>> seen;
    for (const ContainerInfo& info : all) seen.insert(info.id);
    for (const auto& instance : instances_.list()) {
        const std::string fault = fault_of(known, instance->node);
        if (!fault.empty() && !seen.contains(instance->id.str()))
            all.push_back(out_of_reach(*instance, fault));
    }
    return all;
}

}  // namespace svc
