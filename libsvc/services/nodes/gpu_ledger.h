#pragma once
// Which instance holds how many slots of which GPU of one node.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"

namespace svc {

// What one instance asks for. It is a count: slots limit nothing inside the instance.
struct GpuNeeds {
    int slots = 0;
    int encoder_slots = 0;
    bool any() const { return slots > 0 || encoder_slots > 0; }
};

// One thread. Counts only what is booked on GPUs that the node knows by themselves; a node whose slots are a
// bare number has none.
class GpuLedger {
  public:
    // The least used GPU that has room for all of it first, others where it takes more than one. The caller
    // has made sure that the node has room in total. Answers the GPUs it took slots of, that with the first
    // slot first.
    std::vector<int> take(const std::string& instance, const GpuNeeds& needs, const std::vector<Gpu>& gpus);
    // The same among `given`, whether there is room or not: what a record says.
    void adopt(const std::string& instance, const GpuNeeds& needs, const std::vector<Gpu>& gpus,
               const std::vector<int>& given);
    void release(std::string_view instance);
    std::vector<GpuAllocation> allocations() const;

  private:
    GpuNeeds used(int gpu) const;
    std::vector<const Gpu*> in_order(const std::vector<Gpu>& gpus, const GpuNeeds& needs) const;
    void book(const std::string& instance, int gpu, const GpuNeeds& amount);

    std::map<std::string, std::vector<GpuAllocation>, std::less<>> bookings_;
    std::map<int, GpuNeeds> used_;
};

}  // namespace svc
