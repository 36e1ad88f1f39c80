#pragma once
// The node ports of one node.
#include <cstdint>
#include <vector>

namespace svc {

// One thread. A port is taken once, whatever its protocols.
class PortPool {
  public:
    PortPool(std::uint16_t first, std::uint16_t last);  // both included
    // The lowest `count` free ports in a row; 0: there is no such block.
    std::uint16_t take(std::uint16_t count);
    bool take_exactly(std::uint16_t first,
                      std::uint16_t count);                    // false: one of them is taken or out of range
    void give_back(std::uint16_t first, std::uint16_t count);  // free ports are ignored
    std::uint64_t free() const { return free_; }

  private:
    void mark(std::size_t index, std::uint16_t count, bool taken);
    std::uint16_t first_;
    std::size_t lowest_ = 0;  // all below are taken
    std::vector<bool> taken_;
    std::uint64_t free_;
};

}  // namespace svc
