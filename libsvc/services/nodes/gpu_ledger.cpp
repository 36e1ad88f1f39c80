#include "libsvc/services/nodes/gpu_ledger.h"

#include <algorithm>
#include <tuple>

namespace svc {

namespace {

double share(int used, int total) {
    return total > 0 ? static_cast<double>(used) / total : 1;
}

bool has_room(const Gpu& gpu, const GpuNeeds& used, const GpuNeeds& needs) {
    return used.slots + needs.slots <= gpu.slots &&
           used.encoder_slots + needs.encoder_slots <= gpu.encoder_slots;
}

int free_of(int total, int used) {
    return std::max(total - used, 0);
}

}  // namespace

GpuNeeds GpuLedger::used(int gpu) const {
    const auto found = used_.find(gpu);
    return found == used_.end() ? GpuNeeds() : found->second;
}

std::vector<const Gpu*> GpuLedger::in_order(const std::vector<Gpu>& gpus, const GpuNeeds& needs) const {
    const auto rank = [&](const Gpu* gpu) {
        const GpuNeeds now = used(gpu->id);
        return std::tuple(!has_room(*gpu, now, needs), share(now.slots, gpu->slots),
                          share(now.encoder_slots, gpu->encoder_slots), gpu->id);
    };
    std::vector<const Gpu*> order;
    order.reserve(gpus.size());
    for (const Gpu& gpu : gpus) order.push_back(&gpu);
    std::ranges::sort(order, {}, rank);
    return order;
}

std::vector<int> GpuLedger::take(const std::string& instance, const GpuNeeds& needs,
                                 const std::vector<Gpu>& gpus) {
    release(instance);
    std::vector<int> taken;
    GpuNeeds left = needs;
    for (const Gpu* const gpu : in_order(gpus, needs)) {
        if (!left.any()) break;
        const GpuNeeds now = used(gpu->id);
        const GpuNeeds part{std::min(left.slots, free_of(gpu->slots, now.slots)),
                            std::min(left.encoder_slots, free_of(gpu->encoder_slots, now.encoder_slots))};
        if (!part.any()) continue;
        book(instance, gpu->id, part);
        taken.push_back(gpu->id);
        left.slots -= part.slots;
        left.encoder_slots -= part.encoder_slots;
    }
    return taken;
}

void GpuLedger::adopt(const std::string& instance, const GpuNeeds& needs, const std::vector<Gpu>& gpus,
                      const std::vector<int>& given) {
    std::vector<Gpu> among;
    for (const Gpu& gpu : gpus)
        if (std::ranges::find(given, gpu.id) != given.end()) among.push_back(gpu);
    if (among.empty() || !needs.any()) return;
    take(instance, needs, among);
    GpuNeeds left = needs;
    for (const GpuAllocation& booked : bookings_[instance]) {
        left.slots -= booked.slots;
        left.encoder_slots -= booked.encoder_slots;
    }
    if (left.any()) book(instance, among.front().id, left);
}

void GpuLedger::book(const std::string& instance, int gpu, const GpuNeeds& amount) {
    bookings_[instance].push_back({instance, gpu, amount.slots, amount.encoder_slots});
    used_[gpu].slots += amount.slots;
    used_[gpu].encoder_slots += amount.encoder_slots;
}

void GpuLedger::release(std::string_view instance) {
    const auto found = bookings_.find(instance);
    if (found == bookings_.end()) return;
    for (const GpuAllocation& booked : found->second) {
        used_[booked.gpu].slots -= booked.slots;
        used_[booked.gpu].encoder_slots -= booked.encoder_slots;
    }
    bookings_.erase(found);
}

std::vector<GpuAllocation> GpuLedger::allocations() const {
    std::vector<GpuAllocation> all;
    for (const auto& [instance, booked] : bookings_) all.insert(all.end(), booked.begin(), booked.end());
    return all;
}

}  // namespace svc
