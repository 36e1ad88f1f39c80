#include "server/cluster/forwarded_requests.h"

#include "libsvc/base/error.h"
#include "server/cluster/client_identity.h"
#include "server/http/refusal.h"

namespace svc::server {

namespace {

// The manager that asks has not heard yet who leads, or this one has not heard that it does.
TryLater no_lead() {
    return TryLater("this manager does not lead");
}

// The headers are those of the client again.
void drop_identity(Request& request) {
    Headers kept;
    for (const auto& [name, value] : request.headers)
        if (!is_between_managers(name)) kept.add(name, value);
    if (const std::string* host = request.headers.find(client_host_header)) kept.set("Host", *host);
    request.headers = std::move(kept);
}

}  // namespace

ForwardedRequests::ForwardedRequests(ForwardedRequestsParts parts) : parts_(std::move(parts)) {}

Response ForwardedRequests::not_leader(const Request& request) const {
    Response response = parts_.failure(request, no_lead());
    response.headers.set(not_leader_header, "1");
    return response;
}

RequestPlan ForwardedRequests::plan(Request& request) {
    if (!parts_.is_member(*request.peer)) return parts_.inner.plan(request);
    const auto client = forwarded_client(request);
    if (!client) return parts_.inner.plan(request);
    request.peer = client;
    drop_identity(request);
    return plan_forwarded(request);
}

// Whether this manager leads is asked before the body is read, and again when it begins.
RequestPlan ForwardedRequests::plan_forwarded(Request& request) {
    RequestPlan plan = parts_.inner.plan(request);
    plan.handler = [this, handler = std::move(plan.handler)](Request& forwarded) {
        return parts_.leadership.here() ? with_revision(handler(forwarded)) : not_leader(forwarded);
    };
    if (!parts_.leadership.here()) plan.refusal = std::make_exception_ptr(no_lead());
    return plan;
}

// What the client is told is stored: its manager waits until its own memory has it.
Response ForwardedRequests::with_revision(Response response) const {
    if (!response.later) {
        response.headers.set(revision_header, std::to_string(parts_.progress.revision()));
        return response;
    }
    response.later = [this, later = std::move(response.later)](const Responder& respond) {
        later([this, respond](Response answer) { respond(with_revision(std::move(answer))); });
    };
    return response;
}

Response ForwardedRequests::fault(const Request* request, const std::exception& error) {
    const bool forwarded = request && !request->peer->forwarded_by.empty();
    return forwarded && !parts_.leadership.here() ? not_leader(*request) : parts_.inner.fault(request, error);
}

void ForwardedRequests::done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
                             std::chrono::nanoseconds duration) {
    parts_.inner.done(request, status, received, sent, duration);
}

}  // namespace svc::server
