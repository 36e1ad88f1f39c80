#include "libsvc/runtime/simulated/simulated_nodes.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr unsigned smallest_part = 30;  // bits of its prefix

unsigned prefix_of(std::string_view subnet) {
    const std::size_t slash = subnet.find('/');
    unsigned prefix = 0;
    if (slash != std::string_view::npos)
        std::from_chars(subnet.data() + slash + 1, subnet.data() + subnet.size(), prefix);
    return prefix;
}

std::string fault_text(const std::string& name) {
    return "node " + name + " is offline";
}

}  // namespace

std::string part_of_subnet(std::string_view subnet, std::size_t index, std::size_t count) {
    const auto bits = static_cast<unsigned>(std::bit_width(std::max<std::size_t>(count, 1) - 1));
    const unsigned prefix = prefix_of(subnet) + bits;
    in_addr address{};
    const std::string gateway(subnet.substr(0, subnet.find('/')));
    if (inet_pton(AF_INET, gateway.c_str(), &address) != 1 || prefix < bits + 8 || prefix > smallest_part ||
        index >> bits != 0)
        throw Error(ErrorCode::invalid_argument,
                    "subnet " + quoted(subnet) + " cannot be divided into " + std::to_string(count));
    address.s_addr = htonl(ntohl(address.s_addr) + (static_cast<std::uint32_t>(index) << (32 - prefix)));
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &address, text.data(), text.size());
    return std::string(text.data()) + "/" + std::to_string(prefix);
}

SimulatedNodes::SimulatedNodes(Capacity each, const std::vector<std::string>& names, std::size_t room)
    : each_(std::move(each)), room_(std::max(room, names.size())) {
    for (const std::string& name : names) add(name);
}

void SimulatedNodes::add(const std::string& name) {
    change([&] {
        RuntimeNode node{name, each_, true, ""};
        node.capacity.subnet = part_of_subnet(each_.subnet, made_, room_);
        node.capacity.address = node.capacity.public_address = node.capacity.forwards_from =
            node.capacity.subnet.substr(0, node.capacity.subnet.find('/'));
        if (nodes_.emplace(name, std::move(node)).second) ++made_;
    });
}

void SimulatedNodes::remove(const std::string& name) {
    change([&] { nodes_.erase(name); });
}

void SimulatedNodes::set_online(const std::string& name, bool online) {
    change([&] {
        RuntimeNode& node = nodes_.at(name);
        node.online = online;
        node.fault = online ? "" : fault_text(name);
    });
}

void SimulatedNodes::set_cpus(const std::string& name, std::uint32_t cpus) {
    change([&] { nodes_.at(name).capacity.cpus = cpus; });
}

void SimulatedNodes::forward_from(std::string_view name, const std::string& public_address) {
    require_online(name);
    change([&] {
        Capacity& capacity = made_ == 0 ? each_ : nodes_.find(name)->second.capacity;
        capacity.forwards_from = public_address;
    });
}

template <class Change>
void SimulatedNodes::change(Change work) {
    {
        const std::lock_guard lock(mutex_);
        work();
    }
    const std::lock_guard lock(listener_mutex_);
    if (listener_) listener_();
}

void SimulatedNodes::on_changed(std::function<void()> listener) {
    const std::lock_guard lock(listener_mutex_);
    listener_ = std::move(listener);
}

std::vector<RuntimeNode> SimulatedNodes::list() const {
    const std::lock_guard lock(mutex_);
    if (made_ == 0) return {{"", each_, true, ""}};
    std::vector<RuntimeNode> all;
    all.reserve(nodes_.size());
    for (const auto& [name, node] : nodes_) all.push_back(node);
    return all;
}

std::string SimulatedNodes::fault_of(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    if (made_ == 0) return "";
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? fault_text(std::string(name)) : found->second.fault;
}

void SimulatedNodes::require_online(std::string_view name) const {
    if (const std::string fault = fault_of(name); !fault.empty()) throw Error(ErrorCode::unavailable, fault);
}

std::string SimulatedNodes::place_of(std::string_view name) const {
    {
        const std::lock_guard lock(mutex_);
        if (made_ == 0) return "";
        if (!nodes_.contains(name))
            throw Error(ErrorCode::invalid_argument, "the runtime has no node " + quoted(name));
    }
    require_online(name);
    return std::string(name);
}

}  // namespace svc
