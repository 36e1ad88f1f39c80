// What comes after a guest: hooks, and the cleaning of a base container, run by the agent as the only program
// of its stopped container.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/services/instances/container_spec.h"
#include "libsvc/services/instances/instance_implementation.h"

namespace svc {

// On a thread of its own where hooks are due: they may take their time, or hang, and hold no worker of the
// engine.
OperationResult InstanceService::Implementation::run_ending(OperationContext& context, const Ptr& instance,
                                                            EndWork work) {
    if (!instance->end_hooks_due) return work(context.stop());
    const auto stop = std::make_shared<std::stop_source>();
    const auto completion = context.detach([stop] { stop->request_stop(); });
    const bool posted = enders_.post([stop, completion, work = std::move(work)] {
        try {
            if (stop->stop_requested()) throw Error(ErrorCode::cancelled, "Operation cancelled");
            const auto result = std::make_shared<OperationResult>(work(stop->get_token()));
            completion->succeed([result] { return std::move(*result); });
        } catch (const Error& e) {
            completion->fail(e);
        } catch (const std::exception& e) {
            completion->fail(Error(ErrorCode::internal, e.what()));
        }
    });
    if (!posted) completion->fail(Error(ErrorCode::unavailable, "too many containers are ending"));
    return {};
}

// At most once per run of the guest, unless the daemon dies meanwhile. Throws how they failed.
void InstanceService::Implementation::run_end_hooks(const Ptr& instance, int exit_code,
                                                    const std::stop_token& stop) {
    if (!instance->end_hooks_due) return;
    const std::string& id = instance->id.str();
    const auto failure = end_hooks_failure(instance, exit_code, stop);
    parts_.instances.update(id, [](Instance& changed) { changed.end_hooks_due = false; });
    if (failure) throw *failure;
}

std::optional<Error> InstanceService::Implementation::end_hooks_failure(const Ptr& instance, int exit_code,
                                                                        const std::stop_token& stop) {
    const std::string id = instance->id.str();
    Duration limit = end_limit(*instance);
    if (instance->type == InstanceType::base) limit = std::min(limit, time_left(*instance));
    if (limit <= Duration::zero()) return late(*instance);
    const std::stop_source ended = endings_.with([&](auto& endings) { return endings[id].stop; });
    Rollback over;
    over.add("end hooks", [&] { endings_.with([&](auto& endings) { endings.erase(id); }); });
    const std::stop_callback forward(stop, [source = ended]() mutable { source.request_stop(); });
    try {
        const int status = parts_.runtime.run_once(id, end_command(exit_code), limit, ended.get_token());
        if (const auto reported = reported_end(id)) return Error(ErrorCode::internal, *reported);
        if (status == 0) return std::nullopt;
        return Error(ErrorCode::internal, "post-stop failed: exit status " + std::to_string(status));
    } catch (const Error& e) {
        if (e.code() == ErrorCode::cancelled) throw;
        if (const auto reported = reported_end(id)) return Error(ErrorCode::internal, *reported);
        if (instance->type == InstanceType::base && time_left(*instance) <= Duration::zero())
            return late(*instance);
        return Error(e.code(), "post-stop failed: " + std::string(e.what()));
    }
}

std::optional<std::string> InstanceService::Implementation::reported_end(const std::string& id) const {
    return endings_.with([&](const auto& endings) {
        const auto found = endings.find(id);
        return found == endings.end() ? std::nullopt : found->second.reported;
    });
}

// False: nothing of the kind is going on. The first error counts.
bool InstanceService::Implementation::take_end_report(const std::string& id, const InstanceReport& report) {
    return endings_.with([&](auto& endings) {
        const auto found = endings.find(id);
        if (found == endings.end()) return false;
        if (report.status == "error" && !found->second.reported)
            found->second.reported = report.error_message.empty()
                                         ? "instance reported error " + std::to_string(report.error_code)
                                         : report.error_message;
        return true;
    });
}

void InstanceService::Implementation::interrupt_end_hooks(const std::string& id) {
    auto stop = endings_.with([&](auto& endings) -> std::optional<std::stop_source> {
        const auto found = endings.find(id);
        return found == endings.end() ? std::nullopt : std::optional(found->second.stop);
    });
    if (stop) stop->request_stop();
}

}  // namespace svc
