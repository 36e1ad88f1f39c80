#include "libsvc/streaming/sessions/session_work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::size_t call_threads = 8;      // of each region
constexpr std::size_t removal_threads = 16;  // of each region: deletions wait for guests to stop
constexpr std::chrono::seconds first_pause{5};
constexpr std::chrono::seconds longest_pause{60};

Duration pause_after(int failures) {
    return std::min<Duration>(first_pause * (1 << std::min(failures - 1, 10)), longest_pause);
}

}  // namespace

SessionWork::SessionWork(SessionRecords& records, Clock& clock, std::stop_token stopping, Work work)
    : records_(records),
      clock_(clock),
      stopping_(std::move(stopping)),
      work_(std::move(work)),
      calls_("session-calls", call_threads),
      removals_("session-ends", removal_threads) {}

void SessionWork::add(const std::string& session) {
    tasks_.with([&](auto& tasks) { tasks[session].fresh = true; });
}

void SessionWork::cancel(const std::string& session) {
    tasks_.with([&](auto& tasks) { tasks.erase(session); });
}

bool SessionWork::is_running(const std::string& session) const {
    return tasks_.with([&](const auto& tasks) {
        const auto found = tasks.find(session);
        return found != tasks.end() && found->second.running;
    });
}

void SessionWork::schedule(const std::string& session) {
    const bool idle = tasks_.with([&](auto& tasks) {
        Task& task = tasks[session];
        if (task.running) task.again = true;
        return !std::exchange(task.running, true);
    });
    if (idle) post(session);
}

void SessionWork::schedule_due(const std::string& session) {
    const SteadyTime now = clock_.steady_now();
    const bool due = tasks_.with([&](const auto& tasks) {
        const auto found = tasks.find(session);
        return found == tasks.end() || (!found->second.running && found->second.due <= now);
    });
    if (due) schedule(session);
}

void SessionWork::retry_failed() {
    const SteadyTime now = clock_.steady_now();
    std::vector<std::string> due;
    tasks_.with([&](const auto& tasks) {
        for (const auto& [id, task] : tasks)
            if (!task.running && task.failures > 0 && task.due <= now) due.push_back(id);
    });
    for (const std::string& id : due) schedule(id);
}

void SessionWork::post(const std::string& session) {
    const SessionPtr record = records_.find(session);
    const bool posted =
        record &&
        (record->removal_due ? removals_ : calls_).post(record->region, [this, session] { run(session); });
    if (!posted) cancel(session);
}

void SessionWork::run(const std::string& session) {
    if (stopping_.stop_requested()) return;
    const bool fresh = tasks_.with([&](auto& tasks) {
        tasks[session].again = false;
        return std::exchange(tasks[session].fresh, false);
    });
    const bool failed = !attempt(session, fresh);
    const SteadyTime now = clock_.steady_now();
    const bool again = tasks_.with([&](auto& tasks) {
        Task& task = tasks[session];
        if (task.again) return true;
        task.running = false;
        if (failed)
            task.due = now + pause_after(++task.failures);
        else
            tasks.erase(session);
        return false;
    });
    if (again) post(session);
}

bool SessionWork::attempt(const std::string& session, bool is_fresh) const {
    try {
        work_(session, is_fresh);
        return true;
    } catch (const Error& e) {
        const bool is_usual = e.code() == ErrorCode::unavailable || e.code() == ErrorCode::busy;
        (is_usual ? log::debug : log::warning)("work for a session failed",
                                               {{"session", session}, {"error", e.what()}});
    } catch (const std::exception& e) {
        log::error("work for a session failed", {{"session", session}, {"error", e.what()}});
    }
    return false;
}

bool SessionWork::call(const std::string& region, ThreadPool::Job job) {
    return calls_.post(region, std::move(job));
}

void SessionWork::stop() {
    calls_.stop();
    removals_.stop();
}

}  // namespace svc
