#pragma once
// Work of an operation that takes long, on a pool of its owner instead of a worker of the engine.
#include <functional>
#include <stop_token>
#include <string>

#include "libsvc/base/thread_pool.h"
#include "libsvc/operations/context.h"
#include "libsvc/operations/handler.h"

namespace svc {

// To be returned by the handler's run(): detaches the operation and ends it with what `work` returns or
// throws, on a thread of `pool`. Stop is requested of `work` when the operation is cancelled or the daemon
// stops. A pool that takes no more fails the operation with unavailable, `refused`. `work` must not outlive
// what it refers to: the owner of the pool ends that first.
OperationResult run_aside(OperationContext& context, ThreadPool& pool, const std::string& refused,
                          std::function<OperationResult(const std::stop_token& stop)> work);

}  // namespace svc
