#pragma once
// Exec: a command in an instance, its streams on WebSockets, its exit code in the operation.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/instance_uses.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/exec/exec_stream.h"
#include "libsvc/services/instances/path_word.h"

namespace svc {

// Thread-safe. One thread per running command, none while waiting for the WebSockets. Stop the engine before
// this is destroyed; what still runs then is killed.
class ExecService {
  public:
    // `uses`: of instances, in use while a command is asked for or runs.
    ExecService(Instances& instances, InstanceUses& uses, Runtime& runtime, Engine& engine, Clock& clock,
                IdSource& ids);
    ~ExecService();
    ExecService(const ExecService&) = delete;
    ExecService& operator=(const ExecService&) = delete;

    // Answers the operation with metadata.fds. The command starts when all data streams are connected, at
    // most 10 s later. `distrusted` says whether who asks has lost its trust since; empty: it has none to
    // lose. Throws forbidden when it has already.
    Started start(std::string_view id, const ExecRequest& request, PathWord word, std::string requestor,
                  std::function<bool()> distrusted = {});
    // Cancels the commands of those who have lost their trust, whoever has opened their sockets.
    void cancel_distrusted();
    // Checks and reserves the stream that `secret` names; ExecStream::attach() connects it. Throws
    // unauthenticated "missing secret", forbidden for a wrong one, not_found, invalid_argument for a second
    // connection, an operation that is no exec or not running.
    std::shared_ptr<ExecStream> connect(std::string_view operation_id, std::string_view secret);

  private:
    using SessionPtr = std::shared_ptr<ExecSession>;
    void add_session(const std::string& operation, const std::string& container, ExecSpec command,
                     const std::map<std::string, std::string>& secrets, std::function<bool()> distrusted);
    OperationResult run(OperationContext& context);
    OperationResult undo(const Operation& operation);
    SessionPtr find(const std::string& operation);

    Instances& instances_;
    InstanceUses& uses_;
    Runtime& runtime_;
    Engine& engine_;
    IdSource& ids_;
    Guarded<std::map<std::string, SessionPtr>> sessions_;  // by operation
    Guarded<std::map<std::string, int>> codes_;            // exit codes, by operation that is about to fail
    Timer timer_;
};

}  // namespace svc
