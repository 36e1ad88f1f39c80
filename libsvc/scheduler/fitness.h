#pragma once
// Internal to this folder: whether a node can take a request, and how good a choice it is. Pure functions.
#include <cstdint>

#include "libsvc/scheduler/scheduler.h"

namespace svc {

// Sums of fractions of a processor carry rounding errors; bytes and slots are whole numbers and exact.
constexpr double cpu_tolerance = 1e-6;

double missing_cpus(const PlacementRequest& request, const NodeCapacity& node);
double missing_memory(const PlacementRequest& request, const NodeCapacity& node);
double missing_disk(const PlacementRequest& request, const NodeCapacity& node);
double missing_gpu_slots(const PlacementRequest& request, const NodeCapacity& node);
double missing_encoder_slots(const PlacementRequest& request, const NodeCapacity& node);
const std::string* missing_tag(const PlacementRequest& request, const NodeCapacity& node);
bool has_gpu_type(const PlacementRequest& request, const NodeCapacity& node);
bool fits(const PlacementRequest& request, const NodeCapacity& node);

// Sums of free shares in billionths. Rounding errors make no difference between nodes, and the same request
// taken from two nodes of one size leaves them in the same order.
using Shares = std::int64_t;
Shares free_shares(const NodeCapacity& node);      // of cpus, memory and disk
Shares free_gpu_shares(const NodeCapacity& node);  // added when the request needs GPU slots
// The shares that the request takes on a node of this size.
Shares taken_shares(const PlacementRequest& request, const Amounts& total);

// Finds the best node of those that are offered. Of equal ones it takes the one with fewer instances, then
// the first by name. Not thread-safe.
class BestNode {
  public:
    explicit BestNode(Strategy strategy) : strategy_(strategy) {}
    // `left`: the shares that stay free on the candidate.
    void offer(const NodeCapacity& candidate, Shares left) {
        const Shares rank = strategy_ == Strategy::spread ? left : -left;
        if (node_ != nullptr && !precedes(candidate, rank)) return;
        node_ = &candidate;
        rank_ = rank;
    }
    const NodeCapacity* node() const { return node_; }

  private:
    bool precedes(const NodeCapacity& candidate, Shares rank) const {
        if (rank != rank_) return rank > rank_;
        if (candidate.instances != node_->instances) return candidate.instances < node_->instances;
        return candidate.name < node_->name;
    }
    Strategy strategy_;
    const NodeCapacity* node_ = nullptr;
    Shares rank_ = 0;
};

}  // namespace svc
