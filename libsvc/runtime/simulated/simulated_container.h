#pragma once
// Internal to this folder: what the simulation knows of one container, and its form in the journal.
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/interned.h"
#include "libsvc/base/json.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/runtime/simulated/simulated_command.h"
#include "libsvc/runtime/simulated/simulated_usage.h"

namespace svc {

// Not thread-safe: the runtime's lock guards it.
struct SimulatedContainer {
    std::string node;  // "": the simulation has one
    ContainerState state = ContainerState::created;
    bool frozen = false;
    std::optional<Time> started_at;
    std::uint64_t generation = 0;  // of its starts: a late timer finds that its start is over
    Interned<std::vector<std::string>> layers;
    SimulatedLimits limits;
    std::list<std::weak_ptr<SimulatedCommand>> commands;
};

Json to_json(const SimulatedContainer& container);                   // without the commands
SimulatedContainer simulated_container_from_json(const Json& json);  // throws invalid_argument
ContainerInfo to_info(const std::string& id, const SimulatedContainer& container);

}  // namespace svc
