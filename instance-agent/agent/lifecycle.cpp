#include "instance-agent/agent/lifecycle.h"

#include <cstdio>
#include <cstring>

#include "instance-agent/agent/android/android_guest.h"
#include "instance-agent/agent/logging/log_file.h"
#include "instance-agent/agent/processes/supervisor.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/net/client/direct_call.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration boot_patience = 30s;  // then this process, and with it the instance, ends anyway
constexpr Duration end_patience = 5s;
constexpr int failed = 1;        // the phase failed, the service was told
constexpr int hooks_failed = 2;  // a hook after the guest failed
constexpr int not_executed = 127;

Paths paths_of(const std::filesystem::path& session_file) {
    Paths paths;
    paths.data = session_file.parent_path();
    return paths;
}

void report_failure(const AgentSession& session, const InstanceReport& report, Duration patience) {
    SystemClock clock;
    log::error("instance failed", {{"reason", report.error_message}});
    Reporter(session, clock, call_directly).report(report, {}, patience);
}

// The agent that runs with the guest needs the session file to report.
void check_still_there(const std::filesystem::path& session_file) {
    if (!read_session(session_file)) throw Error(ErrorCode::not_found, "a hook has removed the session file");
}

// Failures of a package come back as a report. An exception means something else: the disk is full, the
// session file is broken.
int prepare(const std::filesystem::path& session_file) {
    const auto session = read_session(session_file);
    if (!session) return 0;
    const Paths paths = paths_of(session_file);
    const LogFile log_file(paths.logs() / "agent.log");
    SystemClock clock;
    std::optional<InstanceReport> failure;
    try {
        failure = prepare_guest(*session, paths, clock, call_directly, {});
        if (!failure) check_still_there(session_file);
    } catch (const std::exception& e) {
        failure = error_report(FailureKind::general, e.what());
    }
    if (failure) report_failure(*session, *failure, boot_patience);
    return failure ? failed : 0;
}

int follow(const std::filesystem::path& session_file, int exit_code) {
    const auto session = read_session(session_file);
    if (!session) return 0;
    const Paths paths = paths_of(session_file);
    std::optional<InstanceReport> failure;
    {
        const LogFile log_file(paths.logs() / "agent.log");
        SystemClock clock;
        try {
            failure = follow_guest(*session, paths, clock, exit_code, {});
        } catch (const std::exception& e) {
            failure = error_report(FailureKind::general, e.what());
        }
        if (failure) report_failure(*session, *failure, end_patience);
    }
    if (failure) std::fprintf(stderr, "%s\n", failure->error_message.c_str());
    return failure ? hooks_failed : 0;
}

void tell_failure(Reporter& reporter, const InstanceReport& failure, const std::stop_token& stop) {
    log::error("guest failed", {{"reason", failure.error_message}});
    reporter.report(failure, stop);
}

// How init is executed: an Android guest is told its display.
std::vector<std::string> arguments_of(const std::filesystem::path& session_file,
                                      const std::vector<std::string>& init) {
    const auto session = read_session(session_file);
    return session && session->android ? android_init(*session, paths_of(session_file), init) : init;
}

void tell_failed_boot(const std::filesystem::path& session_file, const std::string& reason) try {
    std::fprintf(stderr, "svc-agent: %s\n", reason.c_str());
    if (const auto session = read_session(session_file))
        report_failure(*session, error_report(FailureKind::general, reason), boot_patience);
} catch (const std::exception& e) {
    std::fprintf(stderr, "svc-agent: %s\n", e.what());
}

}  // namespace

std::optional<AgentSession> read_session(const std::filesystem::path& file) try {
    return AgentSession::from_json(Json::parse(read_file(file)));
} catch (const Error& e) {
    if (e.code() == ErrorCode::not_found) return std::nullopt;
    throw Error(e.code(), "session file '" + file.string() + "': " + e.what());
}

void run_with_guest(const AgentSession& session, const Paths& paths, Clock& clock, const Call& call,
                    std::stop_token stop) {
    std::optional<InstanceReport> report;
    try {
        report = complete_guest(session, paths, clock, stop);
    } catch (const std::exception& e) {
        report = error_report(FailureKind::general, e.what());
    }
    if (!report) return;
    Reporter reporter(session, clock, call);
    if (report->status != "running") return tell_failure(reporter, *report, stop);
    if (!reporter.report(*report, stop)) return;
    log::info("guest is running");
    if (const auto failure = watch_guest(session, paths, clock, stop)) tell_failure(reporter, *failure, stop);
}

int run_before_guest(const std::filesystem::path& session_file, const std::vector<std::string>& init) {
    bool told_to_end = false;
    const int result = supervise([&] { return prepare(session_file); }, &told_to_end);
    if (result > 128 && !told_to_end)
        tell_failed_boot(session_file,
                         "the start of the instance was killed by signal " + std::to_string(result - 128));
    if (result != 0) return result;
    const std::vector<std::string> words = arguments_of(session_file, init);
    std::vector<const char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& argument : words) arguments.push_back(argument.c_str());
    arguments.push_back(nullptr);
    const int error = become(arguments.data());
    tell_failed_boot(session_file, "cannot run '" + init.at(0) + "': " + std::strerror(error));
    return not_executed;
}

int run_after_guest(const std::filesystem::path& session_file, int exit_code) {
    bool told_to_end = false;
    return supervise([&] { return follow(session_file, exit_code); }, &told_to_end);
}

}  // namespace svc::agent
