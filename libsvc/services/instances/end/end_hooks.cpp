#include "libsvc/services/instances/end/end_hooks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/rollback.h"
#include "libsvc/operations/run_aside.h"
#include "libsvc/services/instances/launch/container_spec.h"

namespace svc {

namespace {

// Threads that wait, for a guest or for hooks: so many guests shut down side by side.
constexpr std::size_t end_threads = 64;
constexpr std::size_t max_queued_ends = 100'000;  // no more than there may be instances

std::string reason_in(const InstanceReport& report) {
    if (!report.error_message.empty()) return report.error_message;
    return "instance reported error " + std::to_string(report.error_code);
}

}  // namespace

EndHooks::EndHooks(Instances& instances, Runtime& runtime, const BootLimit& limit)
    : instances_(instances),
      runtime_(runtime),
      limit_(limit),
      pool_("instance-ends", end_threads, max_queued_ends) {}

OperationResult EndHooks::run_around(OperationContext& context, const Instance& instance, Duration grace,
                                     End end) {
    const bool waits =
        instance.end_hooks_due || (grace > Duration::zero() && is_running(runtime_, instance.id.str()));
    if (!waits) return end(context.stop());
    return run_aside(context, pool_, "too many containers are ending", std::move(end));
}

void EndHooks::run(const Instance& instance, int exit_code, const std::stop_token& stop) {
    if (!instance.end_hooks_due) return;
    const auto failure = failure_of(instance, exit_code, stop);
    instances_.update(instance.id.str(), [](Instance& changed) { changed.end_hooks_due = false; });
    if (failure) throw *failure;
}

std::optional<Error> EndHooks::failure_of(const Instance& instance, int exit_code,
                                          const std::stop_token& stop) {
    const std::string id = instance.id.str();
    const bool base = instance.type == InstanceType::base;
    Duration limit = end_limit(instance);
    if (base) limit = std::min(limit, limit_.left(instance));
    if (limit <= Duration::zero()) return limit_.late(instance);
    const std::stop_source ended = running_.with([&](auto& running) {
        running[id].begun = true;
        return running[id].stop;
    });
    Rollback over;
    over.add("end hooks", [&] { running_.with([&](auto& running) { running.erase(id); }); });
    const std::stop_callback forward(stop, [source = ended]() mutable { source.request_stop(); });
    try {
        const int status = runtime_.run_once(id, end_command(exit_code), limit, ended.get_token());
        if (const auto reason = reported(id)) return Error(ErrorCode::internal, *reason);
        if (status == 0) return std::nullopt;
        return Error(ErrorCode::internal, "post-stop failed: exit status " + std::to_string(status));
    } catch (const Error& e) {
        if (e.code() == ErrorCode::cancelled) throw;
        if (const auto reason = reported(id)) return Error(ErrorCode::internal, *reason);
        if (base && limit_.left(instance) <= Duration::zero()) return limit_.late(instance);
        return Error(e.code(), "post-stop failed: " + std::string(e.what()));
    }
}

std::optional<std::string> EndHooks::reported(const std::string& id) const {
    return running_.with([&](const auto& running) {
        const auto found = running.find(id);
        return found == running.end() ? std::nullopt : found->second.reported;
    });
}

bool EndHooks::take_report(const std::string& id, const InstanceReport& report) {
    return running_.with([&](auto& running) {
        const auto found = running.find(id);
        if (found == running.end() || !found->second.begun) return false;
        if (report.status == "error" && !found->second.reported) found->second.reported = reason_in(report);
        return true;
    });
}

void EndHooks::interrupt(const std::string& id) {
    running_.with([&](auto& running) { return running[id].stop; }).request_stop();
}

void EndHooks::forget_interrupt(const std::string& id) {
    running_.with([&](auto& running) { running.erase(id); });
}

void EndHooks::stop() {
    pool_.stop();
}

}  // namespace svc
