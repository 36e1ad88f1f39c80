#pragma once
// From the record of an instance to what the runtime is told. Pure.
#include "libsvc/model/instances/instance.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

ContainerSpec container_spec(const Instance& instance, const AgentSession& session, bool pin_cpus);

// The other way round, as far as a node's reservations need it: for an instance whose record cannot be read.
Instance instance_like(const ContainerSpec& spec, const std::string& node);

// The command for Runtime::run_once() that runs what comes after a guest which ended with `exit_code`.
std::vector<std::string> end_command(int exit_code);
// How long that may take at most: the timeouts of its hooks, and some more.
Duration end_limit(const Instance& instance);

}  // namespace svc
