#pragma once
// Internal to this folder: the machines of a simulation. Each has the same capacity and its own part of the
// subnet.
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc {

// The `index`th of `count` equal parts of a subnet: of "10.0.0.1/8" and 4, "10.64.0.1/10" is the second.
// Throws invalid_argument where it cannot be divided so often.
std::string part_of_subnet(std::string_view subnet, std::size_t index, std::size_t count);

// Thread-safe. Without names there is one machine, which has none and is always online.
class SimulatedNodes {
  public:
    // `room`: into how many parts the subnet is divided, at least; more machines may be added until there are
    // so many.
    SimulatedNodes(Capacity each, const std::vector<std::string>& names, std::size_t room);

    std::vector<RuntimeNode> list() const;
    std::string fault_of(std::string_view name) const;  // "": it is online
    void require_online(std::string_view name) const;   // throws unavailable "node m2 is offline"
    // Where a container for this node goes: "" where there is one machine, whatever it is called. Throws
    // invalid_argument for an unknown node, unavailable.
    std::string place_of(std::string_view name) const;

    void add(const std::string& name);
    void remove(const std::string& name);  // it is gone, with its manager
    void set_online(const std::string& name, bool online);
    void set_cpus(const std::string& name, std::uint32_t cpus);
    void forward_from(std::string_view name, const std::string& public_address);
    void on_changed(std::function<void()> listener);

  private:
    template <class Change>
    void change(Change work);

    Capacity each_;
    const std::size_t room_;
    mutable std::mutex mutex_;
    std::map<std::string, RuntimeNode, std::less<>> nodes_;
    std::size_t made_ = 0;
    std::mutex listener_mutex_;
    std::function<void()> listener_;
};

}  // namespace svc
