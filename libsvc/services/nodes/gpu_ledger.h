#pragma once
// How many slots of each GPU of one node are held by which instance.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/node.h"

namespace svc {

// The slots that one instance asks for. Slots are a count: they limit nothing inside the instance.
struct GpuNeeds {
    int slots = 0;
    int encoder_slots = 0;
    bool any() const { return slots > 0 || encoder_slots > 0; }
};

// One thread. Counts the slots of the GPUs that the node lists; a node whose slots are only a number lists
// none.
class GpuLedger {
  public:
    // Takes slots of the least used GPU that has room for all of them, else of several GPUs. The caller has
    // made sure that the node has room in total. Returns the ids of these GPUs, the one of the first slot
    // first.
    std::vector<int> take(const std::string& instance, const GpuNeeds& needs, const std::vector<Gpu>& gpus);
    // Takes slots of the GPUs `given`, as a record says, whether they have room or not.
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
