#pragma once
// The inside of InstanceService. instance_requests.cpp takes what clients ask for, instance_base.cpp what
// bootstraps ask for, instance_reports.cpp what agents say; instance_launch.cpp brings up, instance_end.cpp
// takes down, instance_after.cpp runs what comes after a guest; reconciler.cpp compares records with the
// runtime.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/instances/pending_boots.h"
#include "libsvc/services/instances/report_memory.h"
#include "libsvc/services/instances/stored_logs.h"

namespace svc {

class InstanceService::Implementation {
  public:
    explicit Implementation(InstanceServiceParts parts);
    ~Implementation();

    Started launch(const InstanceCreate& request, bool no_wait, PathWord word, const std::string& requestor);
    Started remove(std::string_view id, bool force, PathWord word, const std::string& requestor);
    Started set_desired_status(std::string_view id, std::string_view status, bool no_wait, PathWord word,
                               const std::string& requestor);
    Started protect(std::string_view id, bool wanted, PathWord word, const std::string& requestor);
    void launch_base(const BaseLaunch& launch);
    void finish_base(const std::string& id, std::function<void(const std::optional<Error>&)> done);
    void remove_base(const std::string& id, std::function<void()> done);
    std::vector<PackageRef> artifacts(std::string_view id) const;
    void on_application_released(std::function<void(const std::string&, int)> listener);
    void admit_report(std::string_view id);
    void report(std::string_view id, std::string_view token_instance, const InstanceReport& said);
    std::filesystem::path log(std::string_view id, std::string_view name) const;
    void reconcile();
    void expire();
    const Instances& instances() const { return parts_.instances; }

  private:
    using Ptr = std::shared_ptr<const Instance>;

    // What an operation is to do, as stored in its arguments.
    struct Work {
        std::string instance{};
        bool no_wait{};
        bool force{};
        bool if_gone{};   // only when the container really does not run
        int exit_code{};  // of the guest, for what comes after it
        std::string message{};
        Json to_json() const;
        static Work of(const Operation& operation);
    };

    void register_kinds();
    static OperationSpec spec_for(std::string kind, std::string description, const Work& work, PathWord word,
                                  std::string requestor);
    // Starts work nobody asked for over the API. False when it cannot be started now: something else is going
    // on.
    bool start_own(std::string kind, const Work& work, bool wait_for_claims = false);

    // instance_requests.cpp
    Started launch_once(const InstanceCreate& request, bool no_wait, PathWord word,
                        const std::string& requestor);
    void check_name_is_free(const std::string& name) const;
    void give_identity(Instance& instance) const;
    void require_addons(Batch& batch, const Instance& instance) const;
    Started start_launch(const Instance& instance, OperationSpec spec, Batch batch);
    [[noreturn]] void throw_unreadable(const std::string& id);
    Started start_instance(const Ptr& instance, bool no_wait, PathWord word, const std::string& requestor);
    Started stop_instance(const Ptr& instance, PathWord word, const std::string& requestor);
    Started start_deletion(const Work& work, PathWord word, const std::string& requestor, bool again);
    void remove_all_on(const std::string& node);
    void await_deletion(const Operation& deletion);

    // instance_base.cpp
    Instance base_instance(const BaseLaunch& launch) const;
    void tell_finished(const std::string& id,
                       const std::function<void(const std::optional<Error>&)>& done) const;

    // instance_reports.cpp
    bool settle_boot(const std::string& id, std::optional<Error> failure);
    void keep_notes(const Ptr& instance, const InstanceReport& report);
    void report_running(const Ptr& instance);
    void report_error(const Ptr& instance, const InstanceReport& report);
    void report_stopped(const Ptr& instance);

    // instance_launch.cpp
    OperationResult run_launch(OperationContext& context);
    OperationResult run_start(OperationContext& context);
    Ptr prepare(const std::string& id, const std::string& requestor, bool create_container);
    Ptr plan_start(const Ptr& instance) const;
    AgentSession session_for(const Instance& planned) const;
    void create_container(const Instance& planned);
    void start_container(const Instance& planned, const std::string& requestor);
    void commit_started(const Instance& planned, const std::string& requestor);
    OperationResult boot(OperationContext& context, const Instance& planned);
    void give_up_unwanted(const std::string& id);
    OperationResult mark_running(const std::string& id, const std::string& requestor);
    OperationResult undo_launch(const Operation& operation, const Error& error);
    OperationResult undo_start(const Operation& operation, const Error& error);
    Error late(const Instance& instance) const;
    Duration time_left(const Instance& instance) const;  // of booting, or of the whole bootstrap

    // instance_after.cpp
    using EndWork = std::function<OperationResult(const std::stop_token& stop)>;
    OperationResult run_ending(OperationContext& context, const Ptr& instance, EndWork work);
    void run_end_hooks(const Ptr& instance, int exit_code, const std::stop_token& stop);
    std::optional<Error> end_hooks_failure(const Ptr& instance, int exit_code, const std::stop_token& stop);
    std::optional<std::string> reported_end(const std::string& id) const;
    bool take_end_report(const std::string& id, const InstanceReport& report);
    void interrupt_end_hooks(const std::string& id);

    // instance_end.cpp
    Duration stop_grace(const Instance& instance) const;
    OperationResult run_stop(OperationContext& context);
    OperationResult stop_now(const Ptr& instance, int exit_code, const std::string& requestor,
                             const std::stop_token& stop);
    OperationResult undo_stop(const Operation& operation, const Error& error);
    OperationResult run_fail(OperationContext& context);
    OperationResult run_delete(OperationContext& context);
    OperationResult delete_now(const Ptr& instance, bool force, const std::string& requestor,
                               const std::stop_token& stop);
    OperationResult undo_delete(const Operation& operation, const Error& error);
    struct Failure {
        std::string id;
        std::string message;
        int exit_code = 1;
        std::stop_token stop{};
    };
    OperationResult fail_instance(const Failure& failure, const std::string& requestor);
    OperationResult fail_base(const Ptr& instance, const Failure& failure, std::vector<std::string> logs,
                              const std::string& requestor);
    OperationResult forget_instance(const Ptr& instance, bool failed, const std::string& requestor);
    OperationResult drop_record(const Ptr& instance, bool failed, const std::string& requestor);
    OperationResult keep_record(const Ptr& instance, const std::string& requestor);
    OperationResult clear_failed_base(const Ptr& instance);
    std::vector<std::string> collect_logs(const std::string& id);
    bool stop_quietly(const std::string& id);
    bool remove_quietly(const std::string& id);
    void try_end_hooks(const Ptr& instance, const Failure& failure);

    // reconciler.cpp
    struct Found {
        bool exists = false;
        bool runs = false;
        bool unreadable = false;
    };
    static Found found_in(const ContainerInfo& container);
    Found look(const std::string& id);
    void on_runtime_event(const RuntimeEvent& event);
    void container_stopped(const Ptr& instance, const RuntimeEvent& event);
    OperationResult run_recheck(OperationContext& context);
    OperationResult set_aside(const Ptr& instance, const std::string& fault, const std::string& requestor);
    OperationResult take_back(const Ptr& instance, const std::string& requestor);
    bool waits_to_be_read(const Instance& instance, const Found& found);
    void repair(const std::string& id, const Found& found);
    void start_or_check(const char* kind, const Work& work);
    void check_later(const std::string& id);
    void remove_strangers(const std::vector<ContainerInfo>& containers);

    // A change of the record in the commit that ends an operation, and the event of it ("": none). `change`
    // answers whether it applies: somebody else may have moved the record on. `then` runs after the event
    // when it did.
    OperationResult transition(const std::string& id, std::function<bool(Instance&)> change,
                               std::string_view action, const std::string& requestor,
                               std::function<void()> then = {});
    void publish(std::string_view action, const std::string& id, const std::string& requestor) const;
    // `container-created` comes from whoever is first: the request, after its commit, or the work it started.
    void announce(const std::string& id, const std::string& requestor);
    // Tells the listener that the instance uses its application version no more, or less.
    void tell_released(const Instance& instance) const;

    // Somebody runs what comes after a guest.
    struct Ending {
        std::stop_source stop;
        std::optional<std::string> reported;
    };

    InstanceServiceParts parts_;
    StoredLogs logs_;
    Guarded<std::set<std::string>> unannounced_;
    Guarded<std::map<std::string, Ending, std::less<>>> endings_;
    Guarded<std::function<void(const std::string& app_id, int version)>> released_;
    Guarded<std::set<std::string>> checks_;  // of instances that check_later() looks at soon
    ReportMemory reports_;
    Timer timer_;
    PendingBoots boots_;
    ThreadPool enders_;  // last: what runs on it uses all of the above
};

}  // namespace svc
