#pragma once
// Deletes several objects of one kind as one operation, some of them at the same time. An object that cannot
// be deleted does not stop the others; the operation's error names it (extensions bulk_delete.*).
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/operations/engine.h"
#include "libsvc/services/common/records.h"

namespace svc {

struct BulkRequest {
    std::vector<std::string> ids;
    bool force = false;
    static BulkRequest from_json(const Json& body);  // throws invalid_argument; ids must not be empty
};

struct BulkKind {
    std::string noun;  // "containers", as in the operation's resources and arguments
    std::string description;
    std::function<std::string(std::string_view id)>
        check;  // returns the URL of the object, the same for each of its names; what it throws refuses the
                // request
    std::function<Started(std::string_view id, bool force, std::string requestor)> remove;
};

// Thread-safe. Registers "bulk.delete". Holds no worker while it waits for a deletion; resumed after a
// restart. Requests take turns, one deletion a turn.
class BulkDeletion {
  public:
    // `at_once`: deletions at the same time, of all requests together. Each may hold a worker of the engine
    // while its guest shuts down.
    BulkDeletion(Engine& engine, std::vector<BulkKind> kinds, std::size_t at_once);
    ~BulkDeletion();
    // Throws not_found for an unknown id, and invalid_argument for an object that is named twice, before
    // anything is deleted.
    Started remove(std::string_view noun, const BulkRequest& request, std::string requestor);

  private:
    class Run;
    class Turns;
    OperationResult run(OperationContext& context);

    Engine& engine_;
    std::map<std::string, BulkKind, std::less<>> kinds_;
    std::unique_ptr<Turns> turns_;
};

}  // namespace svc
