#pragma once
// The operations in the store: how they are created, ended and forgotten.
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libsvc/base/ages.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/json.h"
#include "libsvc/operations/handler.h"
#include "libsvc/store/collection.h"
#include "libsvc/store/store.h"

namespace svc {

template <>
struct RecordTraits<Operation> {
    static constexpr std::string_view noun = "operation";
    static constexpr std::string_view prefix = "operations/";
    static const std::string& id(const Operation& o) { return o.id.str(); }
    static std::string name(const Operation&) { return ""; }
    static Json to_store(const Operation& o) { return operation_to_store(o); }
    static Operation from_store(const Json& j) { return operation_from_store(j); }
};

// Thread-safe.
class OperationRecords {
  public:
    // `give_up` ends the pauses between two attempts of a commit.
    OperationRecords(Store& store, Clock& clock, std::stop_token give_up);

    const Collection<Operation>& stored() const { return records_; }
    OperationPtr get(std::string_view id) const { return records_.get(id); }  // throws not_found
    std::vector<OperationPtr> list() const { return records_.list(); }
    std::vector<OperationPtr> unfinished() const;  // in the order in which they were accepted

    void create(const Operation& record, Batch with);  // throws conflict, unavailable: nothing is stored then
    void save(const Operation& record);                // replaces the stored record
    // Commits a final record together with the result of the work. Retries while a record that
    // `result.stage` depends on moves, and a few times while the store is unavailable; throws afterwards.
    void finish(const Operation& record, const OperationResult& result);
    // The same, but why it cannot be stored is logged and returned; nothing: it is stored.
    std::optional<ErrorCode> try_finish(const Operation& record, const OperationResult& result);
    // Removes finished records that are as old as `keep_for`, or that are not among the newest `keep`. No
    // record is removed for its number in its first 5 s.
    void remove_finished(std::size_t keep, Duration keep_for);

  private:
    bool has_ended(const Operation& record) const;
    std::vector<std::pair<Duration, OperationPtr>> finished_by_age();
    void remove(const std::vector<std::string>& ids);

    Store& store_;
    Clock& clock_;
    const std::stop_token give_up_;
    Guarded<Ages> ages_;  // of finished operations
    Collection<Operation> records_;
};

}  // namespace svc
