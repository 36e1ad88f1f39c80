#include "libsvc/scheduler/fitness.h"

#include <algorithm>
#include <cmath>

namespace svc {

namespace {

// How much is missing; 0 when the request fits. An amount of 0 is never missing, even on an overcommitted
// node.
double missing(double need, double total, double used, double tolerance = 0) {
    if (need == 0) return 0;
    const double over = used + need - total;
    return over <= tolerance ? 0 : over;
}

Shares in_billionths(double share) {
    return std::llround(share * 1e9);
}

Shares free_share(double total, double used) {
    return total > 0 ? in_billionths(std::clamp((total - used) / total, 0.0, 1.0)) : 0;
}

Shares taken_share(double need, double total) {
    return total > 0 ? in_billionths(need / total) : 0;
}

bool accepts(const PlacementRequest& request, const NodeCapacity& node) {
    return node.online && node.schedulable &&
           (request.architecture.empty() || request.architecture == node.architecture) &&
           (!request.android || node.android_fault.empty()) && missing_tag(request, node) == nullptr &&
           has_gpu_type(request, node);
}

}  // namespace

double missing_cpus(const PlacementRequest& request, const NodeCapacity& node) {
    return missing(request.needs.cpus, node.total.cpus, node.used.cpus, cpu_tolerance);
}
double missing_memory(const PlacementRequest& request, const NodeCapacity& node) {
    return missing(request.needs.memory, node.total.memory, node.used.memory);
}
double missing_disk(const PlacementRequest& request, const NodeCapacity& node) {
    return missing(request.needs.disk, node.total.disk, node.used.disk);
}
double missing_gpu_slots(const PlacementRequest& request, const NodeCapacity& node) {
    return missing(request.needs.gpu_slots, node.total.gpu_slots, node.used.gpu_slots);
}
double missing_encoder_slots(const PlacementRequest& request, const NodeCapacity& node) {
    return missing(request.needs.gpu_encoder_slots, node.total.gpu_encoder_slots,
                   node.used.gpu_encoder_slots);
}

const std::string* missing_tag(const PlacementRequest& request, const NodeCapacity& node) {
    for (const auto& tag : request.selector)
        if (std::find(node.tags.begin(), node.tags.end(), tag) == node.tags.end()) return &tag;
    return nullptr;
}

bool has_gpu_type(const PlacementRequest& request, const NodeCapacity& node) {
    const bool wanted =
        !request.gpu_type.empty() && (request.needs.gpu_slots > 0 || request.needs.gpu_encoder_slots > 0);
    return !wanted ||
           std::find(node.gpu_types.begin(), node.gpu_types.end(), request.gpu_type) != node.gpu_types.end();
}

// NaN does not compare equal to 0, so a request or node with NaN never fits.
bool fits(const PlacementRequest& request, const NodeCapacity& node) {
    return accepts(request, node) && missing_cpus(request, node) == 0 && missing_memory(request, node) == 0 &&
           missing_disk(request, node) == 0 && missing_gpu_slots(request, node) == 0 &&
           missing_encoder_slots(request, node) == 0 && node.free_addresses > 0 &&
           request.ports <= node.free_ports;
}

Shares free_shares(const NodeCapacity& node) {
    return free_share(node.total.cpus, node.used.cpus) + free_share(node.total.memory, node.used.memory) +
           free_share(node.total.disk, node.used.disk);
}

Shares free_gpu_shares(const NodeCapacity& node) {
    return free_share(node.total.gpu_slots, node.used.gpu_slots);
}

Shares taken_shares(const PlacementRequest& request, const Amounts& total) {
    return taken_share(request.needs.cpus, total.cpus) + taken_share(request.needs.memory, total.memory) +
           taken_share(request.needs.disk, total.disk) +
           taken_share(request.needs.gpu_slots, total.gpu_slots);
}

}  // namespace svc
