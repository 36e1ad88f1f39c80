#include "instance-agent/agent.h"

#include "instance-agent/readiness.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

constexpr int error_code_timeout = 5;  // facts: "timeout inside"

InstanceReport running_report() {
    InstanceReport report;
    report.status = "running";
    return report;
}

InstanceReport error_report(const Error& error) {
    InstanceReport report;
    report.status = "error";
    report.error_code = error_code_timeout;
    report.error_message = error.what();
    return report;
}

}  // namespace

std::optional<AgentSession> read_session(const std::filesystem::path& file) try {
    return AgentSession::from_json(Json::parse(read_file(file)));
} catch (const Error& e) {
    if (e.code() == ErrorCode::not_found) return std::nullopt;
    throw Error(e.code(), "session file '" + file.string() + "': " + e.what());
}

void announce_guest(const AgentSession& session, Clock& clock, const Call& call, std::stop_token stop) {
    Reporter reporter(session, clock, call);
    try {
        const auto limit = std::chrono::seconds(session.boot_timeout_seconds);
        if (!wait_until_ready(session.ready, clock, limit, stop)) return;
        if (reporter.report(running_report(), stop)) log::info("guest is running");
    } catch (const Error& e) {
        log::error("guest failed", {{"reason", e.what()}});
        reporter.report(error_report(e), stop);
    }
}

}  // namespace svc::agent
