#include "server/http/refusal.h"

#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/values/api.h"

namespace svc::server {

namespace {

bool has_body(const Request& request) {
    return request.content_length.value_or(0) > 0 || request.headers.find("Transfer-Encoding");
}

}  // namespace

Refusal refusal_of(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const int status = known ? http_status(known->code()) : 500;
    const bool ours = !known || known->code() == ErrorCode::internal;
    if (status == 500) (ours ? log::error : log::warning)("request failed", {{"error", error.what()}});
    return {status, known ? known->what() : "internal error"};
}

RequestPlan refused(const Request& request, const std::exception_ptr& reason, Runner run) {
    RequestPlan plan;
    plan.dispatch = Dispatch::on_io_thread;
    plan.max_body = std::numeric_limits<std::uint64_t>::max();
    if (has_body(request))
        plan.open_upload = [reason](Request&) -> std::shared_ptr<BodySink> {
            std::rethrow_exception(reason);
        };
    plan.handler = [reason, run = std::move(run)](Request& asked) {
        return run([&](Request&) -> Response { std::rethrow_exception(reason); }, asked);
    };
    return plan;
}

}  // namespace svc::server
