#include "server/audit/audited_requests.h"

#include <utility>

#include "libsvc/net/socket/network_of.h"
#include "server/login/session_cookie.h"

namespace svc::server {

namespace {

bool is_refusal(const Response& response) {
    return response.status >= 400 || !audited_error(response).empty();
}

void answer(const Responder& respond, Response response) {
    response.later ? response.later(respond) : respond(std::move(response));
}

}  // namespace

AuditedRequests::Entry AuditedRequests::entry_of(const Request& request) const {
    return std::make_shared<const AuditEntry>(audit_entry(request, parts_.authenticator));
}

RequestPlan AuditedRequests::plan(Request& request) {
    RequestPlan plan = parts_.inner.plan(request);
    if (!is_audited(request)) return plan;
    plan.handler = [this, entry = entry_of(request), handler = std::move(plan.handler)](Request& asked) {
        return noted(entry, handler(asked));
    };
    return plan;
}

Response AuditedRequests::noted(const Entry& entry, Response response) {
    if (response.later) {
        response.later = [this, entry, later = std::move(response.later)](const Responder& respond) {
            later(
                [this, entry, respond](Response reply) { answer(respond, noted(entry, std::move(reply))); });
        };
        return response;
    }
    if (is_refusal(response)) return refused(entry, std::move(response));
    if (entry->changes) write(*entry, record_of(*entry, response), parts_.log);
    return response;
}

// The reply waits without a thread. Of more refusals than may wait the clients have their replies at once.
Response AuditedRequests::refused(const Entry& entry, Response response) {
    if (leaves_out(*entry)) return response;
    const auto record = std::make_shared<const Json>(record_of(*entry, response));
    const auto reply = std::make_shared<Response>(std::move(response));
    Response waiting;
    waiting.later = [this, entry, record, reply](const Responder& respond) {
        const auto written = [this, entry, record, reply, respond] {
            write(*entry, *record, entry->client.empty() ? parts_.strangers : parts_.log);
            respond(std::move(*reply));
        };
        if (refusals_.post(written)) return;
        {
            const std::lock_guard lock(counting_);
            ++too_many_waiting_;
        }
        respond(std::move(*reply));
    };
    return waiting;
}

// A login is that of the session which it has opened.
Json AuditedRequests::record_of(const AuditEntry& entry, const Response& response) const {
    const auto opened = parts_.authenticator.session(opened_secret(response));
    return audit_record(entry, response, opened.get(), parts_.clock.now());
}

void AuditedRequests::write(const AuditEntry& entry, const Json& record, AuditLog& log) {
    const std::lock_guard lock(order_);
    parts_.events.publish(EventType::audit, record);
    if (entry.passed_on) return;
    tell_left_out();
    log.write(record.dump());
}

// Refusals must neither fill a disk nor push out what was done. Those of admins, who can change everything,
// are all told.
bool AuditedRequests::leaves_out(const AuditEntry& entry) {
    if (entry.admin) return false;
    const SteadyTime now = parts_.clock.steady_now();
    const std::lock_guard lock(counting_);
    return entry.client.empty() ? !of_strangers_.take(network_of(entry.address), now)
                                : !of_clients_.take(entry.client, now);
}

std::uint64_t AuditedRequests::take_left_out() {
    const SteadyTime now = parts_.clock.steady_now();
    const std::lock_guard lock(counting_);
    return of_strangers_.left_out(now) + of_clients_.left_out(now) + std::exchange(too_many_waiting_, 0);
}

void AuditedRequests::tell_left_out() {
    const std::uint64_t count = take_left_out();
    if (count == 0) return;
    parts_.strangers.write(Json::object({{"time", to_rfc3339(parts_.clock.now())},
                                         {"who", "guest"},
                                         {"error", "refused requests that are left out"},
                                         {"count", count}})
                               .dump());
}

Response AuditedRequests::fault(const Request* request, const std::exception& error) {
    Response response = parts_.inner.fault(request, error);
    return request && is_audited(*request) ? noted(entry_of(*request), std::move(response))
                                           : std::move(response);
}

void AuditedRequests::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                           std::chrono::nanoseconds duration) {
    parts_.inner.done(request, status, received, sent, duration);
}

}  // namespace svc::server
