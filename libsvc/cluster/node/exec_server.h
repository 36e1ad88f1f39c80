#pragma once
// The node's side of a command in a container.
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "libsvc/base/thread_pool.h"
#include "libsvc/cluster/term_guard.h"
#include "libsvc/net/websocket/websocket.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

struct ExecServerParts {
    Runtime& runtime;
    TermGuard& guard;
    ThreadPool& pool;      // a thread for each command that runs
    std::stop_token stop;  // ends all commands
};

// Runs one command for the leader of this term. When the connection ends, the command is killed and leaves no
// process. `parts` must outlive what the pool runs.
std::shared_ptr<WebSocketHandler> serve_exec(const ExecServerParts& parts, std::uint64_t term,
                                             std::string container);

}  // namespace svc::node
