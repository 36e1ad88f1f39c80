#pragma once
// Internal to this folder: whether a node can take a request, and how good a choice it is.
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

// Sums of free shares in billionths: rounding errors alone make no difference between nodes, and what is
// taken from two nodes of the same size leaves them in the same order.
using Shares = std::int64_t;
Shares free_shares(const NodeCapacity& node);      // of cpus, memory and disk
Shares free_gpu_shares(const NodeCapacity& node);  // to be added when GPU slots are asked for
// What a node of this size has less when it takes the request.
Shares taken_shares(const PlacementRequest& request, const Amounts& total);

// The best node so far. Equal ones are told apart by their instances, then by name.
class BestNode {
  public:
    explicit BestNode(Strategy strategy) : strategy_(strategy) {}
    // `left`: the shares that are left free on it.
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
