#pragma once
// What svc-agent keeps on the disk of its instance for itself (docs/agent.md): no part of a version or a
// snapshot that is made of that disk, because each instance gets its own.
#include <string>
#include <vector>

namespace svc {

const std::vector<std::string>& agent_state_paths();  // absolute, inside the instance

}  // namespace svc
