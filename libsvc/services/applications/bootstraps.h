#pragma once
// Makes versions: launches a base container on the version's foundation, lets the guest install the packages,
// captures what it changed as the version's layer, removes the container (docs/applications.md, The
// bootstrap).
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/services/applications/application_jobs.h"
#include "libsvc/services/applications/application_operation.h"
#include "libsvc/services/applications/bootstrap_queue.h"
#include "libsvc/services/applications/bootstrap_records.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

struct BootstrapsParts {
    Applications& applications;
    InstanceService& instances;
    const ConfigService& config;  // application.auto_publish
    Content& content;
    Engine& engine;
    ApplicationJobs& jobs;  // stopped before this is destroyed
    Clock& clock;
    IdSource& ids;
    Duration limit;  // time limit of one bootstrap
    std::size_t at_once;
};

// Thread-safe. Registers "application.bootstrap". Each bootstrap is an operation that holds no worker while
// it waits. Every step can be repeated: after a restart the record of the version says where to continue.
class Bootstraps {
  public:
    using Listener = std::function<void(const std::string& application)>;

    explicit Bootstraps(BootstrapsParts parts);
    Bootstraps(const Bootstraps&) = delete;
    Bootstraps& operator=(const Bootstraps&) = delete;

    // Starts the operation target.bootstrap unless it exists already or the version is not initializing.
    void start(const ApplicationTarget& target, const std::string& requestor);
    // Set once, before the engine starts; called on an engine thread.
    void on_active(Listener listener) { active_ = std::move(listener); }  // a version has become active
    void on_ended(Listener listener) { ended_ = std::move(listener); }    // well or not; after on_active

  private:
    // One bootstrap of this process.
    struct Bootstrap {
        ApplicationTarget target;
        std::string operation;
        std::string requestor;
        std::shared_ptr<OperationCompletion> completion;
        std::mutex step;             // held during each step
        bool over = false;           // guarded by `step`: no further step is wanted
        Timer::Ticket deadline = 0;  // guarded by `step`
    };
    using BootstrapPtr = std::shared_ptr<Bootstrap>;

    OperationResult run(OperationContext& context);
    OperationResult undo(const Operation& operation, const Error& error);
    void cancel(const std::string& operation, const Error& reason);
    void forget(const std::string& operation);

    // The steps, in their order.
    void do_step(const BootstrapPtr& bootstrap, const std::function<void()>& step);
    void begin(const BootstrapPtr& bootstrap);
    void launch(const BootstrapPtr& bootstrap, const Application& before);
    void await_guest(const BootstrapPtr& bootstrap, const std::string& base);
    void set_deadline(const BootstrapPtr& bootstrap, const std::string& base);
    void guest_ended(const BootstrapPtr& bootstrap, const std::string& base);
    BootstrappedLayer capture(const ApplicationTarget& target, const std::string& base);
    void remove_base(const BootstrapPtr& bootstrap, const std::string& base);
    void base_removed(const BootstrapPtr& bootstrap);
    OperationResult conclude(const BootstrapPtr& bootstrap);

    void fail_version(const ApplicationTarget& target, const std::string& reason);
    void fail_base(const std::string& base, const std::string& reason);

    BootstrapsParts parts_;
    Listener active_, ended_;
    BootstrapRecords versions_;
    BootstrapQueue queue_;
    Guarded<std::map<std::string, BootstrapPtr, std::less<>>> bootstraps_;  // by operation
    Timer timer_;
};

}  // namespace svc
