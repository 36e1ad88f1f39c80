#pragma once
// The nodes, kept in the order in which a strategy takes them, so that a placement does not look at every
// node.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "libsvc/scheduler/scheduler.h"

namespace svc {

// What is reserved on a node now.
struct NodeUsage {
    Amounts used{};
    std::uint64_t instances = 0;
    std::uint64_t free_addresses = 0;
    std::uint64_t free_ports = 0;
};

// Not thread-safe. Gives the same answers as place() of scheduler.h for the same nodes. The set of nodes and
// their sizes do not change; make a new table when they do.
class NodeTable {
  public:
    NodeTable(Strategy strategy, std::vector<NodeCapacity> nodes);  // of different names
    ~NodeTable();
    NodeTable(NodeTable&&) noexcept;
    NodeTable& operator=(NodeTable&&) noexcept;

    std::variant<Placement, NoPlacement> place(const PlacementRequest& request) const;
    void set_usage(std::string_view node, const NodeUsage& usage);  // ignores an unknown node
    std::span<const NodeCapacity> nodes() const { return nodes_; }  // ordered by name
    Strategy strategy() const { return strategy_; }

  private:
    struct Size;  // the nodes of one size
    using SizeKey = std::array<double, 4>;
    Size& size_of(const Amounts& total);
    void list(std::uint32_t index);
    void unlist(std::uint32_t index);
    std::variant<Placement, NoPlacement> place_on(const PlacementRequest& request) const;
    std::optional<std::uint32_t> find(std::string_view node) const;

    Strategy strategy_;
    std::vector<NodeCapacity> nodes_;
    std::unordered_map<std::string_view, std::uint32_t> indexes_;  // names are those in nodes_
    std::map<SizeKey, std::unique_ptr<Size>> sizes_;
    std::vector<Size*> size_of_node_;
};

}  // namespace svc
