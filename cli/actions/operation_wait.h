#pragma once
// Starts background operations and waits for them, as --timeout and --no-wait say.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/connection/context.h"
#include "cli/terminal/interrupts.h"
#include "cli/terminal/progress.h"
#include "libsvc/client/operation_waiter.h"

namespace svc::cli {

Flag timeout_flag();                                             // -t/--timeout
Flag no_wait_flag();                                             // --no-wait
std::optional<Duration> timeout_of(const Arguments& arguments);  // throws UsageError

// Subscribes to events at construction, runs requests, and waits for their operations with a progress line.
// Ctrl-C cancels the operation that is waited for. At most one object at a time.
class Waiting {
  public:
    // `arguments` has --timeout, and may have --no-wait when `may_skip`.
    Waiting(Context& context, const Arguments& arguments, bool may_skip);

    // With --no-wait: prints the operation's id and returns nothing. Else returns the operation's record;
    // throws when the operation failed.
    std::optional<Json> finish(const Json& started);
    // The same for several operations; waits for all. Reports those that failed and returns false.
    bool finish_all(const std::vector<std::pair<std::string, Json>>& started);
    // Shows the progress of an upload; throws after Ctrl-C.
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
