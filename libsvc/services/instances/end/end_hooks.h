#pragma once
// What comes after a guest: the end hooks of its packages, and the cleaning of a base container, run by the
// agent as the only program of its stopped container; and the threads that wait for them and for the guest.
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/instances/launch/boot_limit.h"

namespace svc {

// Thread-safe.
class EndHooks {
  public:
    // The end of an instance; run() is called in it. The token is stopped with the operation.
    using End = std::function<OperationResult(const std::stop_token& stop)>;

    EndHooks(Instances& instances, Runtime& runtime, const BootLimit& limit);
    // Runs `end` within its operation: at once, or on a thread of the pool where hooks are due, or where a
    // guest that runs is given `grace` to shut down (0: it is killed). Both may take long, or hang, and must
    // not hold a worker of the engine.
    OperationResult run_around(OperationContext& context, const Instance& instance, Duration grace, End end);
    // Runs the hooks when they are due: at most once per run of the guest, unless the daemon dies meanwhile.
    // Throws how they failed, cancelled when `stop` was requested.
    void run(const Instance& instance, int exit_code, const std::stop_token& stop);
    // A report that came while the hooks of the instance run: it is about them, and its first error is the
    // reason of their failure. False: no hooks are running.
    bool take_report(const std::string& id, const InstanceReport& report);
    // Ends the hooks of the instance, also those that its present operation has yet to begin: it may still
    // wait for the guest to shut down.
    void interrupt(const std::string& id);
    void forget_interrupt(const std::string& id);  // when that operation is over
    // Waits for the ends that are under way; later ones fail with unavailable.
    void stop();

  private:
    struct Running {
        std::stop_source stop;
        bool begun = false;
        std::optional<std::string> reported;
    };
    std::optional<Error> failure_of(const Instance& instance, int exit_code, const std::stop_token& stop);
    std::optional<std::string> reported(const std::string& id) const;

    Instances& instances_;
    Runtime& runtime_;
    const BootLimit& limit_;
    Guarded<std::map<std::string, Running, std::less<>>> running_;
    ThreadPool pool_;
};

}  // namespace svc
