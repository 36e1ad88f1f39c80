#pragma once
// Waiting for another operation from the work of one.
#include "libsvc/operations/engine.h"

namespace svc {

// Blocks until `other` has ended; throws its error when it did not succeed (not_found, conflict ... become
// internal: only the text is known). Cancels it and throws cancelled when the work of `context` is cancelled;
// throws cancelled when the daemon stops. Holds a worker meanwhile: few operations may do so at a time.
void await_operation(Engine& engine, const Operation& other, const OperationContext& context);

}  // namespace svc
