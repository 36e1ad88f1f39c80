#include "libsvc/streaming/sessions/instance_observer.h"

#include "libsvc/base/error.h"

namespace svc {

using enum SessionStatus;

void InstanceObserver::check(const StreamSession& session) {
    observe(session, answering(parts_.regions, session.region).instance(session.container_id));
}

void InstanceObserver::observe(const StreamSession& session, const std::optional<StreamInstance>& instance) {
    if (!instance || instance->status == "deleted") return instance_gone(session);
    const std::string& message = instance->error_message;
    const bool stopped = instance->status == "stopped";
    if (instance->status == "error" || (stopped && !message.empty()))
        return parts_.states.fail_instance(session, message.empty() ? "Container failed" : message, false);
    if (stopped && session.status == created)
        return parts_.states.fail_instance(session, "Container stopped before it was ready", false);
    if (stopped) return parts_.states.stop(session);
    note_running(session, *instance);
}

void InstanceObserver::instance_gone(const StreamSession& session) {
    if (session.status == active)
        return parts_.states.finish(session.id, {"Container was deleted", end_code::instance_deleted});
    if (session.status == created && !session.launch_operation.empty()) {
        const std::string reason =
            answering(parts_.regions, session.region).launch_failure(session.launch_operation);
        if (!reason.empty()) {
            parts_.regions.note_refusal(session.region);
            return parts_.launcher.move_on(session, reason);
        }
    }
    parts_.states.fail_instance(session, "Container was deleted before it was ready", true);
}

// The instance registered before its launch was answered, and went before the session learned its id.
void InstanceObserver::note_missing(const StreamSession& session) {
    if (session.status == active && !parts_.claims.is_others(session) &&
        !parts_.relay.is_registered(session.id))
        instance_gone(session);
}

void InstanceObserver::note_running(const StreamSession& session, const StreamInstance& instance) {
    if (session.status != created || instance.status != "running") return;
    const SteadyTime now = parts_.clock.steady_now();
    running_.with([&](auto& running) {
        Running& seen = running[session.id];
        if (seen.instance != instance.id) seen = {instance.id, now};
    });
}

std::optional<Duration> InstanceObserver::running_for(const StreamSession& session) const {
    const SteadyTime now = parts_.clock.steady_now();
    return running_.with([&](const auto& running) -> std::optional<Duration> {
        const auto found = running.find(session.id);
        if (found == running.end() || found->second.instance != session.container_id) return std::nullopt;
        return now - found->second.since;
    });
}

void InstanceObserver::forget_moved() {
    running_.with([this](auto& running) {
        std::erase_if(running, [this](const auto& entry) {
            const SessionPtr session = parts_.records.find(entry.first);
            return !session || session->status != created;
        });
    });
}

}  // namespace svc
