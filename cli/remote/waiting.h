#pragma once
// Starting background operations, and waiting for them as the flags say.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/line/command.h"
#include "cli/remote/context.h"
#include "cli/terminal/interrupts.h"
#include "cli/terminal/progress.h"
#include "libsvc/client/operation_waiter.h"

namespace svc::cli {

Flag timeout_flag();                                             // -t/--timeout
Flag no_wait_flag();                                             // --no-wait
std::optional<Duration> timeout_of(const Arguments& arguments);  // throws UsageError

// Subscribes at construction, runs requests, waits for their operations with a progress line. Ctrl-C cancels
// the operation being waited for. One at a time.
class Waiting {
  public:
    // `arguments` has --timeout, and may have --no-wait when `may_skip`.
    Waiting(Context& context, const Arguments& arguments, bool may_skip);

    // With --no-wait: prints the operation's id and returns nothing. Else the record; throws unless it is a
    // success.
    std::optional<Json> finish(const Json& started);
    // The same for several; all are waited for. Returns false after having reported those that failed.
    bool finish_all(const std::vector<std::pair<std::string, Json>>& started);
    // Progress of a package; gives up after Ctrl-C.
    PackageProgress package_progress();

  private:
    Json wait(const Json& started);

    Context& context_;
    bool skip_;
    OperationWaitOptions options_;
    Interrupts interrupts_;
    ProgressLine line_;
    std::optional<OperationWaiter> waiter_;
};

}  // namespace svc::cli
