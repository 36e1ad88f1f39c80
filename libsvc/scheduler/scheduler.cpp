#include "libsvc/scheduler/scheduler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "libsvc/scheduler/fitness.h"

namespace svc {

namespace {

constexpr std::size_t max_named_nodes = 10;

// "2GB" for 1.2 GB: rounded up, so that the amount in the message would be enough.
std::string rounded_up_size(double bytes) {
    constexpr std::array<std::string_view, 7> units{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    for (; std::ceil(bytes) >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
    return fmt::format("{:.0f}{}", std::ceil(bytes), units[unit]);
}

std::string rounded_up_count(double count) {
    const double hundredths = std::ceil(count * 100 - cpu_tolerance);
    return fmt::format("{}", hundredths / 100);
}

std::string refusal(const PlacementRequest& request, const NodeCapacity& node) {
    if (!node.online) return "not online";
    if (!node.schedulable) return "unschedulable";
    if (!request.architecture.empty() && request.architecture != node.architecture)
        return fmt::format("architecture is {}, not {}", node.architecture, request.architecture);
    if (const std::string* tag = missing_tag(request, node)) return fmt::format("no tag '{}'", *tag);
    if (request.android && !node.android_fault.empty())
        return "runs no Android guests: " + node.android_fault;
    if (!has_gpu_type(request, node)) return fmt::format("no gpu of type {}", request.gpu_type);
    return {};
}

void add(std::string& list, std::string_view separator, const std::string& item) {
    if (!list.empty()) list += separator;
    list += item;
}

double free_share(double need, double total, double used) {
    return total > 0 ? std::clamp((total - used - need) / total, 0.0, 1.0) : 0.0;
}

std::string reason(const PlacementRequest& request, std::span<const NodeCapacity> nodes) {
    std::string list;
    std::size_t considered = 0;
    for (const auto& node : nodes) {
        if (!request.node.empty() && node.name != request.node) continue;
        if (considered++ < max_named_nodes) add(list, "; ", node.name + ": " + shortage(request, node));
    }
    if (considered > max_named_nodes) add(list, "; ", fmt::format("{} more", considered - max_named_nodes));
    if (considered == 0) list = request.node.empty() ? "no nodes" : fmt::format("no node '{}'", request.node);
    return "No suitable node to satisfy container requirement available (" + list + ")";
}

}  // namespace

std::string shortage(const PlacementRequest& request, const NodeCapacity& node) {
    std::string text = refusal(request, node);
    if (!text.empty() || fits(request, node)) return text;
    const auto add_count = [&](std::string_view what, double count) {
        if (count != 0) add(text, ", ", fmt::format("{} short by {}", what, rounded_up_count(count)));
    };
    const auto add_size = [&](std::string_view what, double bytes) {
        if (bytes != 0) add(text, ", ", fmt::format("{} short by {}", what, rounded_up_size(bytes)));
    };
    add_count("cpus", missing_cpus(request, node));
    add_size("memory", missing_memory(request, node));
    add_size("disk", missing_disk(request, node));
    add_count("gpu slots", missing_gpu_slots(request, node));
    add_count("gpu encoder slots", missing_encoder_slots(request, node));
    if (node.free_addresses == 0) add(text, ", ", "no free address");
    if (request.ports > node.free_ports)
        add(text, ", ", fmt::format("node ports short by {}", request.ports - node.free_ports));
    return text;
}

double score(const PlacementRequest& request, const NodeCapacity& node) {
    const double sum = free_share(request.needs.cpus, node.total.cpus, node.used.cpus) +
                       free_share(request.needs.memory, node.total.memory, node.used.memory) +
                       free_share(request.needs.disk, node.total.disk, node.used.disk);
    if (request.needs.gpu_slots == 0) return sum / 3;
    return (sum + free_share(request.needs.gpu_slots, node.total.gpu_slots, node.used.gpu_slots)) / 4;
}

std::variant<Placement, NoPlacement> place(const PlacementRequest& request,
                                           std::span<const NodeCapacity> nodes, Strategy strategy) {
    BestNode best(strategy);
    for (const auto& node : nodes) {
        if ((!request.node.empty() && node.name != request.node) || !fits(request, node)) continue;
        Shares left = free_shares(node) - taken_shares(request, node.total);
        if (request.needs.gpu_slots > 0) left += free_gpu_shares(node);
        best.offer(node, left);
    }
    if (best.node() == nullptr) return NoPlacement{reason(request, nodes)};
    return Placement{best.node()->name};
}

}  // namespace svc
