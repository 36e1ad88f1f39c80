#include "libsvc/services/common/await_operation.h"

#include <condition_variable>
#include <mutex>

#include "libsvc/base/error.h"

namespace svc {

namespace {

using Record = std::shared_ptr<const Operation>;

// Shared by the waiting thread and the callback of the engine, whichever ends last.
struct Answer {
    std::mutex mutex;
    std::condition_variable_any changed;
    Record record;
};

// Null when `stop` was requested before.
Record wait_for_end(Engine& engine, const std::string& id, std::stop_token stop) {
    const auto answer = std::make_shared<Answer>();
    engine.when_final(id, std::nullopt, [answer](Record record) {
        const std::lock_guard lock(answer->mutex);
        answer->record = std::move(record);
        answer->changed.notify_all();
    });
    std::unique_lock lock(answer->mutex);
    answer->changed.wait(lock, std::move(stop), [&] { return answer->record != nullptr; });
    return answer->record;
}

void cancel_quietly(Engine& engine, const std::string& id) {
    try {
        engine.cancel(id);
    } catch (const Error&) {
        // it has ended, or cannot be cancelled and continues alone
    }
}

}  // namespace

void await_operation(Engine& engine, const Operation& other, const OperationContext& context) {
    const std::string id = other.id.str();
    const Record ended = wait_for_end(engine, id, context.stop());
    if (ended && ended->status == OperationStatus::success) return;
    if (ended && is_final(ended->status)) throw Error(ErrorCode::internal, ended->err);
    if (context.cancel_requested()) cancel_quietly(engine, id);
    throw Error(ErrorCode::cancelled, "waiting was cancelled");
}

}  // namespace svc
