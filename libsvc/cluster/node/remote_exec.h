#pragma once
// The leader's side of a command in a container of another node.
#include <cstdint>
#include <memory>
#include <string>

#include "libsvc/net/client/target.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

// Returns when the command runs. Throws the node's error, unavailable. Exit code 129 when the connection is
// lost; the node ends the command then.
std::unique_ptr<ExecProcess> exec_remotely(const Target& target, std::uint64_t term,
                                           const std::string& container, const ExecSpec& spec);

}  // namespace svc::node
