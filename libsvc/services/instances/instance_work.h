#pragma once
// What an operation of an instance is to do, as stored in its arguments, and how such operations are started.
#include <memory>
#include <string>

#include "libsvc/base/json.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/instances/path_word.h"

namespace svc {

using InstancePtr = std::shared_ptr<const Instance>;

// The arguments of "instance.launch", "instance.start", "instance.stop", "instance.pause",
// "instance.resume", "instance.fail", "instance.recheck", "instance.protect" and "instance.delete". The JSON
// form is stored, and read by later programs.
struct InstanceWork {
    std::string instance{};  // its id
    bool no_wait{};          // of a launch or start: it ends when the start is queued
    bool force{};            // of a deletion: without the end of the guest and its end hooks
    bool if_gone{};          // of a failure: only when the container does not run
    int exit_code{};         // of the guest, for its end hooks
    std::string message{};   // of a failure: its reason
    Json to_json() const;
    static InstanceWork of(const Operation& operation);
};

// The claim that all operations hold which change an instance.
std::string instance_claim(const std::string& instance);

OperationSpec instance_operation(std::string kind, std::string description, const InstanceWork& work,
                                 PathWord word, std::string requestor);

// Starts an operation that no client has asked for; `wait_for_claims`: behind the one that holds the instance
// now. False, with a line in the log: it cannot be started at this moment.
bool start_repair(Engine& engine, std::string kind, const InstanceWork& work, bool wait_for_claims = false);

// The guest runs, or may run.
bool may_be_up(InstanceStatus status);
// Asks the runtime. Throws what it throws.
bool is_running(Runtime& runtime, const std::string& id);

// Throws invalid_argument: until a launch has claimed it, nobody uses an instance of a pool.
void check_not_pooled(const Instance& instance, const std::string& what);

[[noreturn]] void throw_being_deleted();  // busy: the second deletion of an instance

}  // namespace svc
