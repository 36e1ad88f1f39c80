#pragma once
// Internal to this folder: nodes of one size in the order in which a strategy takes them.
#include <cstdint>
#include <span>
#include <vector>

#include "libsvc/scheduler/fitness.h"

namespace svc {

// Not thread-safe. A node is an index into the caller's nodes. The order is stored in blocks; each block
// knows the most that any of its nodes has free, so that full nodes are skipped a block at a time and a
// change moves a few dozen entries.
class RankedNodes {
  public:
    explicit RankedNodes(Strategy strategy) : sign_(strategy == Strategy::spread ? -1 : 1) {}

    struct Place {
        Shares free = 0;
        std::uint64_t instances = 0;
        std::uint32_t node = 0;
    };
    // `nodes`: what the indexes refer to, ordered by name. remove() gets the `place` that add() got.
    void add(const Place& place, std::span<const NodeCapacity> nodes);
    void remove(const Place& place, std::span<const NodeCapacity> nodes);
    // The first node that fits; null pointer: none.
    const NodeCapacity* first_fit(const PlacementRequest& request, std::span<const NodeCapacity> nodes) const;

  private:
    struct Block {
        std::vector<Place> places;
        Amounts most_free;
        std::uint64_t most_ports = 0;
        bool has_address = false;
    };
    using Blocks = std::vector<Block>;
    bool precedes(const Place& a, const Place& b) const;
    Blocks::iterator block_for(const Place& place);
    static void sum_up(Block& block, std::span<const NodeCapacity> nodes);
    static bool may_fit(const PlacementRequest& request, const Block& block);

    const Shares sign_;
    Blocks blocks_;  // none is empty
};

}  // namespace svc
