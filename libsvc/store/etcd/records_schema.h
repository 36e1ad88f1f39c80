#pragma once
// Managers of different versions on the same records: who may lead, so that no record is written that a
// living manager does not know. docs/managers.md, "Rolling upgrade".
#include <string>

#include "libsvc/store/etcd/members.h"

namespace svc::etcd {

// For a manager that knows the schemas up to `known`.
void refuse_newer_records(const RecordsSchema& schema, int known);  // throws unsupported
// Why it must not lead now; "": it may.
std::string reason_not_to_lead(const RecordsSchema& schema, int known);
// It leads by this transaction, which raises the schema to `known`, and fails when anybody has raised it
// meanwhile or a manager that was not looked at has come.
void stage_raise(Transaction& transaction, const Keys& keys, const RecordsSchema& schema, int known);

}  // namespace svc::etcd
