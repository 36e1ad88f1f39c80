#pragma once
// How operations on applications look: their arguments, resources and claims (docs/applications.md,
// Operations). Shared by the classes that register such operations.
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/operations/engine.h"

namespace svc {

// What an operation works on, as stored in its arguments.
struct ApplicationTarget {
    static constexpr int no_version = -1;
    std::string application;  // id
    int version = no_version;
    std::string bootstrap;  // id of the operation that bootstraps the version, chosen before it exists
    bool has_version() const { return version != no_version; }
    Json to_json() const;
    static ApplicationTarget of(const Operation& operation);
};

// `addressed`: id or name as the request had it, for the operation's resources. Claims are the caller's.
OperationSpec application_operation(std::string kind, std::string description, std::string_view addressed,
                                    const ApplicationTarget& target, std::string requestor);
// version_claim(): held by a version's bootstrap, import or deletion. update_claim(): held by the operation
// that adds the version to the record, and by the version's deletion.
std::string version_claim(const std::string& application, int version);
std::string update_claim(const std::string& application, int version);

// Registers a kind whose work can be resumed after a restart. `undo` may be empty.
void handle_resumable(Engine& engine, const char* kind, std::function<OperationResult(OperationContext&)> run,
                      std::function<OperationResult(const Operation&, const Error&)> undo = nullptr);
bool operation_exists(const Engine& engine, const std::string& id);

}  // namespace svc
