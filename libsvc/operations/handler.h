#pragma once
// What a service registers for a kind of operation: the work, its undo, and the result of both.
#include <functional>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/model/cluster/operation.h"
#include "libsvc/store/store.h"

namespace svc {

class OperationContext;

// The result of work that succeeded: `last` commits together with the operation's final record.
struct OperationResult {
    Batch last{};
    // Adds to the final commit what depends on records that others change too. Called right before that
    // commit, and again when the commit meets a conflict; what it throws ends the operation like run() does.
    // May be empty.
    std::function<void(Batch& last)> stage{};
    Json metadata{};                // replaces the operation's metadata unless null
    std::function<void()> after{};  // runs once after that commit: publishes what changed. May be empty
};

// The last step of the work: returns its result or throws, as OperationHandler::run() does.
using LastStep = std::function<OperationResult()>;

// `run` and `undo` are called on a worker thread of the engine.
struct OperationHandler {
    // Does the work. Throwing Error makes the operation a Failure with that text. The operation becomes
    // Cancelled ("Operation cancelled") when the error's code is `cancelled` and either a cancel was
    // requested or an operation that cancels holders waits for one of its claims.
    std::function<OperationResult(OperationContext&)> run;
    // Undoes what the work left, after it failed, was cancelled, or was interrupted and cannot be resumed.
    // Its result commits together with the final record. Must be idempotent. May be empty.
    std::function<OperationResult(const Operation&, const Error&)> undo;
    bool resumable = false;  // run() may be called again from the start after a crash
};

}  // namespace svc
