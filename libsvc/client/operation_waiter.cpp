#include "libsvc/client/operation_waiter.h"

#include "libsvc/base/error.h"

namespace svc {
namespace {

constexpr std::chrono::milliseconds event_poll{100};  // how fast a cancel request is noticed
constexpr std::chrono::seconds record_refresh{10};    // a record is read at least this often
constexpr std::chrono::milliseconds reconnect_pause{250};

bool concerns(const Json& event, const std::string& id) {
    const Json* type = event.find("type");
    const Json* metadata = event.find("metadata");
    if (type == nullptr || metadata == nullptr || !(*type == Json("operation"))) return false;
    const Json* event_id = metadata->find("id");
    return event_id != nullptr && *event_id == Json(id);
}

}  // namespace

struct OperationWaiter::Progress {
    const OperationWaitOptions& options;
    SteadyTime started;
    SteadyTime refreshed;
    std::optional<SteadyTime> lost_since;
    std::optional<SteadyTime> cancelled_since;
    bool timed_out = false;
};

OperationWaiter::OperationWaiter(ApiClient& client) : client_(client) {
    try {
        events_.emplace(client.target(), "operation");
    } catch (const Error&) {
        // Without events there is /wait; if the service is not there at all, the request itself will say so.
    }
}

Json OperationWaiter::wait(const std::string& id, const OperationWaitOptions& options) {
    const SteadyTime now = clock_.steady_now();
    Progress progress{options, now, now, std::nullopt, std::nullopt};
    std::optional<Json> record = client_.operation(id);  // it may have ended before anybody asked
    while (true) {
        if (record && options.on_update) options.on_update(*record);
        if (record && operation_is_final(*record)) break;
        act_on_limits(id, progress);
        record = next_record(id, progress);
    }
    if (progress.timed_out && record->at("status_code").as_int() != 200)
        throw Error(ErrorCode::cancelled, "Operation timeout");
    return *record;
}

void OperationWaiter::act_on_limits(const std::string& id, Progress& progress) {
    const SteadyTime now = clock_.steady_now();
    if (progress.cancelled_since) {
        if (now - *progress.cancelled_since < progress.options.cancel_grace) return;
        throw Error(ErrorCode::cancelled,
                    progress.timed_out ? "Operation timeout" : "operation is still being cancelled");
    }
    progress.timed_out = progress.options.timeout && now - progress.started >= *progress.options.timeout;
    const bool wanted = progress.options.cancel_requested && progress.options.cancel_requested();
    if (!progress.timed_out && !wanted) return;
    try {
        client_.cancel_operation(id);
    } catch (const Error& e) {
        // The cancel may be refused because the operation has just ended. Then its record is returned.
        if (operation_is_final(client_.operation(id))) return;
        if (progress.timed_out) throw Error(ErrorCode::cancelled, "Operation timeout");
        throw;
    }
    progress.cancelled_since = now;
}

std::optional<Json> OperationWaiter::next_record(const std::string& id, Progress& progress) {
    try {
        std::optional<Json> record;
        if (!events_) {
            record = client_.wait_operation(id, std::chrono::seconds(1));
        } else if (auto update = next_event(id)) {
            record = std::move(update);
        } else if (clock_.steady_now() - progress.refreshed > record_refresh) {
            record = client_.operation(id);
            progress.refreshed = clock_.steady_now();
        }
        progress.lost_since.reset();
        return record;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        events_.reset();
        const SteadyTime now = clock_.steady_now();
        if (!progress.lost_since) progress.lost_since = now;
        if (now - *progress.lost_since > progress.options.reconnect_grace) throw;
        clock_.wait({}, reconnect_pause);
        return std::nullopt;
    }
}

std::optional<Json> OperationWaiter::next_event(const std::string& id) {
    const std::optional<Json> event = events_->next(event_poll);
    if (!event || !concerns(*event, id)) return std::nullopt;
    return event->at("metadata");
}

}  // namespace svc
