#pragma once
// The inside of InstanceService. instance_service.cpp takes requests, instance_reports.cpp the reports of
// agents; instance_launch.cpp brings up, instance_end.cpp takes down; reconciler.cpp compares records with
// the runtime.
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/services/instance_service.h"
#include "libsvc/services/pending_boots.h"
#include "libsvc/services/stored_logs.h"

namespace svc {

class InstanceService::Implementation {
  public:
    explicit Implementation(InstanceServiceParts parts);
    ~Implementation();

    Started launch(const InstanceCreate& request, bool no_wait, PathWord word, std::string requestor);
    Started remove(std::string_view id, bool force, PathWord word, const std::string& requestor);
    Started set_desired_status(std::string_view id, std::string_view status, bool no_wait, PathWord word,
                               const std::string& requestor);
    void report(std::string_view id, std::string_view token_instance, const InstanceReport& report);
    std::filesystem::path log(std::string_view id, std::string_view name) const;
    void reconcile();
    void expire();
    const Instances& instances() const { return parts_.instances; }

  private:
    using Ptr = std::shared_ptr<const Instance>;

    // What an operation is to do, as stored in its arguments.
    struct Work {
        std::string instance;
        bool no_wait = false;
        bool force = false;
        bool if_gone = false;  // only when the container really does not run
        std::string message;
        Json to_json() const;
        static Work of(const Operation& operation);
    };

    void register_kinds();
    static OperationSpec spec_for(std::string kind, std::string description, const Work& work, PathWord word,
                                  std::string requestor);
    // Starts work nobody asked for over the API. False when it cannot be started now: something else is going
    // on.
    bool start_own(std::string kind, const Work& work, bool wait_for_claims = false);

    // instance_service.cpp
    Instance new_instance(const InstanceCreate& request) const;
    void choose_image(const InstanceCreate& request, Instance& instance) const;
    void set_resources(const InstanceCreate& request, Instance& instance) const;
    Started start_instance(const Ptr& instance, bool no_wait, PathWord word, const std::string& requestor);
    Started stop_instance(const Ptr& instance, PathWord word, const std::string& requestor);

    // instance_reports.cpp
    bool settle_boot(const std::string& id, std::optional<Error> failure);
    void report_running(const Ptr& instance);
    void report_error(const Ptr& instance, const InstanceReport& report);
    void report_stopped(const Ptr& instance);

    // instance_launch.cpp
    OperationResult run_launch(OperationContext& context);
    OperationResult run_start(OperationContext& context);
    Ptr prepare(const std::string& id, const std::string& requestor, bool create_container);
    Ptr plan_start(const Ptr& instance) const;
    void create_container(const Instance& planned);
    void start_container(const Instance& planned, const std::string& requestor);
    void commit_started(const Instance& planned, const std::string& requestor);
    OperationResult boot(OperationContext& context, const Instance& planned);
    OperationResult mark_running(const std::string& id, const std::string& requestor);
    OperationResult undo_launch(const Operation& operation, const Error& error);
    OperationResult undo_start(const Operation& operation, const Error& error);

    // instance_end.cpp
    OperationResult run_stop(const Operation& operation);
    OperationResult run_fail(const Operation& operation);
    OperationResult run_delete(const Operation& operation);
    OperationResult undo_delete(const Operation& operation, const Error& error);
    OperationResult fail_instance(const std::string& id, const std::string& message,
                                  const std::string& requestor);
    OperationResult forget_instance(const Ptr& instance, bool failed, const std::string& requestor);
    std::vector<std::string> collect_logs(const std::string& id);
    bool stop_quietly(const std::string& id);

    // reconciler.cpp
    void on_runtime_event(const RuntimeEvent& event);
    void container_stopped(const Ptr& instance, const RuntimeEvent& event);
    void repair(const std::string& id, bool container_runs);
    void check_later(const std::string& id);
    void remove_strangers(const std::vector<ContainerInfo>& containers);

    // A change of the record in the commit that ends an operation, and the event of it. `change` answers
    // whether it applies: somebody else may have moved the record on.
    OperationResult transition(const std::string& id, std::function<bool(Instance&)> change,
                               std::string_view action, const std::string& requestor);
    void publish(std::string_view action, const std::string& id, const std::string& requestor) const;
    // `container-created` comes from whoever is first: the request, after its commit, or the work it started.
    void announce(const std::string& id, const std::string& requestor);

    InstanceServiceParts parts_;
    StoredLogs logs_;
    Guarded<std::set<std::string>> unannounced_;
    Timer timer_;
    PendingBoots boots_;
};

}  // namespace svc
