#pragma once
// What the agents inside instances report.
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/end/end_hooks.h"
#include "libsvc/services/instances/launch/pending_boots.h"
#include "libsvc/services/instances/repair/instance_repair.h"
#include "libsvc/services/instances/reports/report_memory.h"

namespace svc {

// Thread-safe.
class InstanceReports {
  public:
    // Nothing: what follows from the report is stored, so the agent need not repeat it.
    using Answer = std::function<void(const std::optional<Error>& failure)>;

    InstanceReports(Instances& instances, Engine& engine, const Clock& clock, PendingBoots& boots,
                    EndHooks& hooks, InstanceRepair& repair);

    // To be called before anything else of a report is looked at. Throws busy when the instance has reported
    // too often of late: twenty may come at once, and one more every five seconds.
    void admit(std::string_view id);
    // Takes one report. Throws not_found, forbidden when `token_instance`, the instance that the token was
    // issued for, is another one, invalid_argument for a status that is unknown or not allowed now,
    // unavailable when the agent must ask again. Otherwise `answer` is called once: here, or on another
    // thread when the operation that the report ends is stored; with unavailable after two seconds without
    // that. May wait for the disk; holds no thread while it waits for an operation.
    void take(std::string_view id, std::string_view token_instance, const InstanceReport& said,
              Answer answer);
    // Forgets the reports of instances that are gone; periodically.
    void forget_removed();

  private:
    // How a report is answered: by the end of this operation ("": at once).
    using AnsweredBy = std::string;
    AnsweredBy act_on(const Instance& instance, const InstanceReport& report);
    AnsweredBy running(const Instance& instance);
    AnsweredBy failed(const Instance& instance, const InstanceReport& report);
    AnsweredBy stopped(const Instance& instance);
    void keep_notes(const Instance& instance, const InstanceReport& report);
    void keep_in_development(const Instance& instance, const std::string& status);

    Instances& instances_;
    Engine& engine_;
    PendingBoots& boots_;
    EndHooks& hooks_;
    InstanceRepair& repair_;
    ReportMemory memory_;
};

}  // namespace svc
