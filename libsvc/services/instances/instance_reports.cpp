// What the agents inside say.
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/instances/instance_implementation.h"

namespace svc {

namespace {

constexpr Duration report_limit = std::chrono::seconds(2);  // the agent asks again then

bool may_report(InstanceStatus status) {
    return status == InstanceStatus::started || status == InstanceStatus::running;
}

}  // namespace

void InstanceService::Implementation::admit_report(std::string_view id) {
    const auto instance = parts_.instances.find(id);
    if (!instance) return;                           // report() says so
    if (reports_.admit(instance->id.str())) return;  // whether by its id or its name
    throw Error(ErrorCode::busy,
                "too many reports of container " + std::string(id) + ": try again in a minute");
}

void InstanceService::Implementation::report(std::string_view id, std::string_view token_instance,
                                             const InstanceReport& said) {
    const auto instance = parts_.instances.get(id);
    if (instance->id.str() != token_instance) throw Error(ErrorCode::forbidden, "Not Authorized");
    InstanceReport report = said;
    report.error_message = clipped(std::move(report.error_message), max_error_bytes);
    keep_notes(instance, report);
    if (take_end_report(instance->id.str(), report)) return;
    if (!report.status || instance->status == InstanceStatus::deleted) return;
    const bool devmode = instance->config->devmode;
    const bool is_news = devmode && reports_.is_news(instance->id.str(), *report.status);
    if (*report.status == "running") return report_running(instance);
    if (devmode) {
        if (is_news)
            log::warning("container is kept: development mode",
                         {{"container", instance->id.str()}, {"reported", *report.status}});
        return;
    }
    if (*report.status == "error") return report_error(instance, report);
    if (*report.status == "stopped") return report_stopped(instance);
    throw Error(ErrorCode::invalid_argument, "argument status is invalid: must be running, error or stopped");
}

// Of a bootstrap alone: they go on to the record of the application version. Agents repeat their reports.
void InstanceService::Implementation::keep_notes(const Ptr& instance, const InstanceReport& report) {
    if (instance->type != InstanceType::base || report.notes.empty()) return;
    if (joined_notes(instance->notes, report.notes) == instance->notes) return;
    parts_.instances.update(instance->id.str(), [&](Instance& changed) {
        changed.notes = joined_notes(changed.notes, report.notes);
    });
}

// A report is taken when what follows from it is stored: the agent does not send it again after that.
bool InstanceService::Implementation::settle_boot(const std::string& id, std::optional<Error> failure) {
    const auto operation = boots_.settle(id, std::move(failure));
    if (!operation) return false;
    if (!is_final(parts_.engine.wait(*operation, report_limit)->status))
        throw Error(ErrorCode::unavailable, "report of container " + id + " is not stored yet");
    return true;
}

// Agents repeat this: after a restart of either side it may come at any time.
void InstanceService::Implementation::report_running(const Ptr& instance) {
    if (instance->status == InstanceStatus::running) return;
    if (settle_boot(instance->id.str(), std::nullopt)) return;
    const bool may_come_up = instance->status == InstanceStatus::created ||
                             instance->status == InstanceStatus::prepared ||
                             instance->status == InstanceStatus::started;
    if (!may_come_up)
        throw Error(ErrorCode::invalid_argument, "reporting running from a container that is " +
                                                     std::string(to_text(instance->status)) + " not allowed");
    // After a crash, before the start is taken up again, whose last step may be missing from the record; or
    // again, while the first report is being stored. The agent asks again after what is not its fault.
    throw Error(ErrorCode::unavailable,
                "start of container " + instance->id.str() + " is not waited for yet");
}

void InstanceService::Implementation::report_error(const Ptr& instance, const InstanceReport& report) {
    const std::string& id = instance->id.str();
    const std::string message = report.error_message.empty()
                                    ? "instance reported error " + std::to_string(report.error_code)
                                    : report.error_message;
    if (settle_boot(id, Error(ErrorCode::internal, message))) return;
    if (may_report(instance->status))
        start_or_check("instance.fail", {.instance = id, .exit_code = 1, .message = message});
}

void InstanceService::Implementation::report_stopped(const Ptr& instance) {
    const std::string& id = instance->id.str();
    if (settle_boot(id, Error(ErrorCode::internal, "instance stopped before it was running"))) return;
    if (may_report(instance->status)) start_or_check("instance.stop", {.instance = id});
}

}  // namespace svc
