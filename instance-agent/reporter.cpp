#include "instance-agent/reporter.h"

#include <algorithm>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration first_pause = 50ms;
constexpr Duration longest_pause = 10s;
constexpr auto call_timeout = 15s;

ClientRequest make_request(const AgentSession& session, const InstanceReport& report) {
    ClientRequest request;
    request.method = Method::patch;
    request.path = "/1.0/containers/" + session.instance_id;
    request.headers.add("Authorization", "bearer " + session.token);
    request.headers.add("Content-Type", "application/json");
    request.body = report.to_json().dump();
    request.timeout = call_timeout;
    return request;
}

// 4xx will not change by asking again: the token or the instance is gone, or the report makes no sense to the
// service.
bool is_refusal(int status) {
    return status >= 400 && status < 500;
}

}  // namespace

Reporter::Reporter(AgentSession session, Clock& clock, Call call)
    : session_(std::move(session)), clock_(clock), call_(std::move(call)) {}

std::vector<Target> Reporter::targets() const {
    std::vector<Target> all;
    if (!session_.service_socket.empty()) all.push_back(Target::parse("unix://" + session_.service_socket));
    for (const auto& url : session_.service_urls) {
        all.push_back(Target::parse(url));
        all.back().server_fingerprint = session_.service_fingerprint;
    }
    return all;
}

ClientReply Reporter::call_any(const ClientRequest& request) {
    std::optional<Error> last;
    for (const auto& target : targets()) try {
            return call_(target, request);
        } catch (const Error& e) {
            last = e;
        }
    throw last.value_or(Error(ErrorCode::unavailable, "session names no service to report to"));
}

bool Reporter::report(const InstanceReport& report, std::stop_token stop) {
    const ClientRequest request = make_request(session_, report);
    Duration pause = first_pause;
    do {
        try {
            const ClientReply reply = call_any(request);
            if (reply.status < 300) return true;
            log::warning("report was not taken",
                         {{"status", std::to_string(reply.status)}, {"answer", reply.body}});
            if (is_refusal(reply.status)) return false;
        } catch (const Error& e) {
            log::debug("service cannot be reached", {{"reason", e.what()}});
        }
        if (!clock_.wait(stop, pause)) return false;
        pause = std::min(pause * 2, longest_pause);
    } while (!stop.stop_requested());
    return false;
}

}  // namespace svc::agent
