#include "libsvc/services/instances/reports/instance_reports.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/instances/repair/unreadable_instances.h"

namespace svc {

namespace {

constexpr Duration report_limit = std::chrono::seconds(2);  // the agent asks again then

}  // namespace

InstanceReports::InstanceReports(Instances& instances, Engine& engine, const Clock& clock,
                                 PendingBoots& boots, EndHooks& hooks, InstanceRepair& repair)
    : instances_(instances), engine_(engine), boots_(boots), hooks_(hooks), repair_(repair), memory_(clock) {}

void InstanceReports::admit(std::string_view id) {
    const auto instance = instances_.find(id);
    if (!instance) return;                          // take() says so
    if (memory_.admit(instance->id.str())) return;  // whether by its id or its name
    throw Error(ErrorCode::busy,
                "too many reports of container " + std::string(id) + ": try again in a minute");
}

void InstanceReports::take(std::string_view id, std::string_view token_instance, const InstanceReport& said,
                           Answer answer) {
    const auto instance = instances_.get(id);
    if (instance->id.str() != token_instance) throw Error(ErrorCode::forbidden, "Not Authorized");
    InstanceReport report = said;
    report.error_message = clipped(std::move(report.error_message), max_error_bytes);
    keep_notes(*instance, report);
    const AnsweredBy operation = act_on(*instance, report);
    if (operation.empty()) return answer(std::nullopt);
    engine_.when_final(
        operation, report_limit,
        [name = instance->id.str(), answer = std::move(answer)](const Started& last) {
            if (is_final(last->status)) return answer(std::nullopt);
            answer(Error(ErrorCode::unavailable, "report of container " + name + " is not stored yet"));
        });
}

InstanceReports::AnsweredBy InstanceReports::act_on(const Instance& instance, const InstanceReport& report) {
    if (hooks_.take_report(instance.id.str(), report)) return {};
    if (!report.status || instance.status == InstanceStatus::deleted) return {};
    if (instance.config->devmode) keep_in_development(instance, *report.status);
    if (*report.status == "running") return running(instance);
    if (instance.config->devmode) return {};
    if (*report.status == "error") return failed(instance, report);
    if (*report.status == "stopped") return stopped(instance);
    throw Error(ErrorCode::invalid_argument, "argument status is invalid: must be running, error or stopped");
}

// In development mode a container stays whatever its guest reports; a status is logged when it changes.
void InstanceReports::keep_in_development(const Instance& instance, const std::string& status) {
    const std::string& id = instance.id.str();
    if (!memory_.is_news(id, status) || status == "running") return;
    log::warning("container is kept: development mode", {{"container", id}, {"reported", status}});
}

// Of a bootstrap alone: the notes go on to the record of the application version. Agents repeat their
// reports.
void InstanceReports::keep_notes(const Instance& instance, const InstanceReport& report) {
    if (instance.type != InstanceType::base || report.notes.empty()) return;
    if (joined_notes(instance.notes, report.notes) == instance.notes) return;
    instances_.update(instance.id.str(),
                      [&](Instance& changed) { changed.notes = joined_notes(changed.notes, report.notes); });
}

// Agents repeat this: after a restart of either side it may come at any time.
InstanceReports::AnsweredBy InstanceReports::running(const Instance& instance) {
    const std::string& id = instance.id.str();
    if (instance.status == InstanceStatus::running) return {};
    if (auto operation = boots_.settle(id, std::nullopt)) return std::move(*operation);
    const bool may_come_up = instance.status == InstanceStatus::created ||
                             instance.status == InstanceStatus::prepared ||
                             instance.status == InstanceStatus::started || is_set_aside(instance);
    if (!may_come_up)
        throw Error(ErrorCode::invalid_argument, "reporting running from a container that is " +
                                                     std::string(to_text(instance.status)) + " not allowed");
    // After a crash, before the start is resumed; or again, while the first report is being stored.
    throw Error(ErrorCode::unavailable, "start of container " + id + " is not waited for yet");
}

InstanceReports::AnsweredBy InstanceReports::failed(const Instance& instance, const InstanceReport& report) {
    const std::string& id = instance.id.str();
    const std::string message = report.error_message.empty()
                                    ? "instance reported error " + std::to_string(report.error_code)
                                    : report.error_message;
    if (auto operation = boots_.settle(id, Error(ErrorCode::internal, message))) return std::move(*operation);
    if (may_be_up(instance.status))
        repair_.start_or_check("instance.fail", {.instance = id, .exit_code = 1, .message = message});
    return {};
}

InstanceReports::AnsweredBy InstanceReports::stopped(const Instance& instance) {
    const std::string& id = instance.id.str();
    const Error early(ErrorCode::internal, "instance stopped before it was running");
    if (auto operation = boots_.settle(id, early)) return std::move(*operation);
    if (may_be_up(instance.status)) repair_.start_or_check("instance.stop", {.instance = id});
    return {};
}

void InstanceReports::forget_removed() {
    memory_.forget_all_but([this](std::string_view id) { return instances_.find(id) != nullptr; });
}

}  // namespace svc
