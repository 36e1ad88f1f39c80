#pragma once
// Restarting: an operation that consists of two others, the stop of an instance and then its start. It holds
// no worker while it waits for them. It is stored with the ids of both before one of them begins: a later
// process begins none of them twice.
#include <functional>
#include <string>

#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/instance_work.h"

namespace svc {

// What begins the parts of the restart of an instance. `operation`: the id that the new operation gets.
struct RestartCalls {
    using Begin = std::function<void(const std::string& id, const std::string& operation,
                                     const std::string& requestor)>;
    Begin stop, start;
};

// Registers "instance.restart" with the engine. The instances and what the calls use outlive its work.
void handle_restarts(Engine& engine, const Instances& instances, RestartCalls calls);

// Thread-safe. Throws busy while the instance is being restarted.
Started start_restart(Engine& engine, IdSource& ids, const Instance& instance, PathWord word,
                      const std::string& requestor);

}  // namespace svc
