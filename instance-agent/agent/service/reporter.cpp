#include "instance-agent/agent/service/reporter.h"

#include <algorithm>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration first_report_pause = 50ms;
constexpr Duration longest_pause = 10s;
constexpr auto call_timeout = 15s;
constexpr int too_early = 409;  // the service asks for a later retry

ClientRequest make_request(const AgentSession& session, const InstanceReport& report) {
    ClientRequest request =
        authorised_request(session, Method::patch, "/1.0/containers/" + session.instance_id);
    request.headers.add("Content-Type", "application/json");
    request.body = report.to_json().dump();
    return request;
}

// A retry does not change any other 4xx: the token or the instance is gone, or the service cannot read the
// report.
bool is_refusal(int status) {
    return status >= 400 && status < 500 && status != too_early;
}

}  // namespace

Reporter::Reporter(AgentSession session, Clock& clock, Call call)
    : session_(std::move(session)), clock_(clock), call_(std::move(call)) {}

std::optional<bool> Reporter::try_once(const ClientRequest& request) try {
    failpoint("agent.reports");
    const ClientReply reply = call_any(session_, call_, [&request] { return request; });
    failpoint("agent.reported");
    if (reply.status < 300) return true;
    log::warning("report was not taken", {{"status", std::to_string(reply.status)}, {"answer", reply.body}});
    return is_refusal(reply.status) ? std::optional(false) : std::nullopt;
} catch (const Error& e) {
    log::debug("service cannot be reached", {{"reason", e.what()}});
    return std::nullopt;
}

bool Reporter::report(const InstanceReport& report, std::stop_token stop, Duration patience) {
    if (service_targets(session_).empty()) {
        log::warning("session names no service to report to");
        return false;
    }
    ClientRequest request = make_request(session_, report);
    request.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::min<Duration>(call_timeout, patience));
    const SteadyTime begin = clock_.steady_now();
    Duration pause = first_report_pause;
    do {
        if (const auto taken = try_once(request)) return *taken;
        if (clock_.steady_now() - begin >= patience || !clock_.wait(stop, pause)) return false;
        pause = std::min(pause * 2, longest_pause);
    } while (!stop.stop_requested());
    return false;
}

}  // namespace svc::agent
