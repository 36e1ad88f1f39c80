#include "libsvc/services/await_operation.h"

#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr Duration look_interval = std::chrono::milliseconds(500);  // for the stop of who waits

void cancel_quietly(Engine& engine, const std::string& id) {
    try {
        engine.cancel(id);
    } catch (const Error&) {
        // it has ended by itself, or goes on by itself
    }
}

}  // namespace

void await_operation(Engine& engine, const Operation& other, const OperationContext& context) {
    const std::string id = other.id.str();
    for (;;) {
        const auto record = engine.wait(id, look_interval);
        if (record->status == OperationStatus::success) return;
        if (is_final(record->status)) throw Error(ErrorCode::internal, record->err);
        if (!context.stop().stop_requested()) continue;
        if (context.cancel_requested()) cancel_quietly(engine, id);
        throw Error(ErrorCode::cancelled, "waiting was cancelled");
    }
}

}  // namespace svc
