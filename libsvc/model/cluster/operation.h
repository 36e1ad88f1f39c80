#pragma once
// The record of a background operation (specification: Operation record; docs/management.md,
// "Operations"; docs/operations.md).
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"

namespace svc {

struct OperationTag;
using OperationId = Id<OperationTag>;

enum class OperationStatus {
    running = 103,
    cancelling = 104,
    pending = 105,
    success = 200,
    failure = 400,
    cancelled = 401
};
std::string_view to_text(
    OperationStatus status);  // "Running"; also of all other codes of the specification's table
std::string_view status_text(int code);
bool is_final(OperationStatus status);  // code >= 200

enum class OperationClass { task, websocket, token };
std::string_view to_text(OperationClass value);

struct Operation {
    OperationId id;
    OperationClass cls = OperationClass::task;
    std::string kind;         // "instance.launch": selects the handler; not in the API
    std::string description;  // "Creating container"
    Time created_at{}, updated_at{};
    OperationStatus status = OperationStatus::running;
    std::map<std::string, std::vector<std::string>> resources;  // empty: null on the wire
    Json metadata;
    bool may_cancel = false;
    std::string err;
    std::string requestor;        // the client: "uid=0", or its certificate's fingerprint
    Json arguments;               // input of the handler, also after a restart; not in the API
    bool cancels_holders = true;  // cancels the operations it waits for, also after a restart; not in the API
    std::vector<std::string>
        claims;  // "instances/<id>": no other operation works on these meanwhile; not in the API
};

// The record as it was at one moment; shared, never changed.
using OperationPtr = std::shared_ptr<const Operation>;

Json to_json(const Operation& operation);
// The metadata without `fds`, the secrets of an operation's sockets: they are in the answer to the request
// that has started the operation, and nowhere else.
Json without_secrets(Json metadata);
Json operation_to_store(const Operation& operation);
Operation operation_from_store(const Json& stored);
std::string operation_url(const OperationId& id);  // "1.0/operations/<uuid>", without leading slash

}  // namespace svc
