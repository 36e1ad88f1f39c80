#pragma once
// Bringing instances up: a launch, or the start of a stopped one, goes through one table of steps. Every step
// can be repeated, so a launch that a crash has interrupted goes through the table again: the record says
// what is reserved and which states are stored, and the runtime knows which container is there and which
// runs.
#include <array>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/rollback.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/services/instances/launch/abandoned_launches.h"
#include "libsvc/services/instances/launch/guest_sessions.h"
#include "libsvc/services/instances/launch/pending_boots.h"

namespace svc {

struct InstanceLauncherParts {
    Instances& instances;
    Runtime& runtime;
    NodeService& nodes;
    const ConfigService& config;
    Engine& engine;
    const BootLimit& limit;
    const GuestSessions& sessions;
    const StoredLogs& logs;
    PendingBoots& boots;
    InstanceFailures& failures;
    AbandonedLaunches& abandoned;
    InstanceChanges& changes;
};

// Thread-safe. The handlers of "instance.launch" and "instance.start". The steps run on a worker of the
// engine; states are stored by a pool of this class, while the worker goes on with the next step. No thread
// waits for the guest.
class InstanceLauncher {
  public:
    explicit InstanceLauncher(InstanceLauncherParts parts);
    OperationResult run_launch(OperationContext& context);
    OperationResult run_start(OperationContext& context);
    OperationResult undo_launch(const Operation& operation, const Error& error);
    OperationResult undo_start(const Operation& operation, const Error& error);
    ContainerSpec specification(const Instance& instance) const;  // of its container

  private:
    std::vector<std::string> render_names(const Instance& instance) const;  // of its GPUs, on its node

    // One pass through the steps.
    struct Launch {
        OperationContext& context;  // until run() of the operation has returned
        std::string id;
        std::string requestor;
        Instance planned;                // the record, with what is reserved for it and the state it has
        std::optional<Error> failure{};  // error of the step that failed
    };
    using LaunchPtr = std::shared_ptr<Launch>;
    struct Step {
        std::string_view name;
        void (InstanceLauncher::*effect)(const LaunchPtr&);
        // The state that the record has after this step; `unknown`: the same as before. It is stored while
        // the next step runs, since each commit waits for the disk; the last one with the end of the
        // operation.
        InstanceStatus leads_to;
        // Called when this step's state cannot be stored, or a later step fails, before the operation is
        // undone. May be null.
        void (InstanceLauncher::*undo)(const LaunchPtr&);
        // Called when the launch fails and the stored state is the one before this step. (A launch that was
        // cancelled is forgotten in every state.)
        OperationResult (InstanceLauncher::*on_failure)(const InstancePtr&, const Error&, const std::string&);
    };
    static const std::array<Step, 5> steps;
    static const Step& first_unfinished(InstanceStatus stored);

    void run_steps(const LaunchPtr& launch, std::size_t count);
    void go_through(const LaunchPtr& launch, std::size_t count, Rollback& undo);
    std::future<void> begin_to_store(InstanceStatus state, const LaunchPtr& launch);
    void store(InstanceStatus state, const Launch& launch);

    void reserve(const LaunchPtr& launch);
    void release(const LaunchPtr& launch);
    void create_container(const LaunchPtr& launch);
    void leave_lost_node(Instance& planned);
    bool is_placed(const Instance& instance) const;
    void remove_left_container(const Instance& instance);
    void expect_report(const LaunchPtr& launch);
    void tell_failure(const LaunchPtr& launch);
    void start_container(const LaunchPtr& launch);
    void wait_for_guest(const LaunchPtr& launch);

    InstancePtr with_start_mark(const InstancePtr& instance);
    OperationResult start_behind(const std::string& id);
    OperationResult mark_running(const Launch& launch);
    OperationResult forget(const InstancePtr& instance, const Error& error, const std::string& requestor);
    OperationResult fail(const InstancePtr& instance, const Error& error, const std::string& requestor);

    InstanceLauncherParts parts_;
    ThreadPool commits_;
};

}  // namespace svc
