#include "libsvc/store/etcd/records_schema.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/store/etcd/members_json.h"

namespace svc::etcd {

namespace {

std::string too_old(const RecordsSchema& schema, int known) {
    return "the records in etcd are of schema " + std::to_string(schema.raised) +
           ", and this version knows " + std::to_string(known) + ": it must be upgraded";
}

}  // namespace

void refuse_newer_records(const RecordsSchema& schema, int known) {
    if (schema.raised > known) throw Error(ErrorCode::unsupported, too_old(schema, known));
}

std::string reason_not_to_lead(const RecordsSchema& schema, int known) {
    if (schema.raised > known) return too_old(schema, known);
    if (!schema.older) return "";
    const Manager& older = *schema.older;
    return quoted(older.name) + " lives, of version " + quoted(older.version) +
           ", which does not know schema " + std::to_string(known) + " of records, but " +
           std::to_string(older.schema) + ": it must be upgraded";
}

void stage_raise(Transaction& transaction, const Keys& keys, const RecordsSchema& schema, int known) {
    transaction.expect(keys.schema(), schema.revision);
    if (schema.raised >= known) return;
    transaction.expect_none_after(below(keys.managers()), schema.seen);
    transaction.put(keys.schema(), schema_text(known));
}

}  // namespace svc::etcd
