#pragma once
// Converts application records to documents, and filters them.
#include "cli/output/document.h"
#include "cli/views/instance_view.h"

namespace svc::cli {

Json application_value(const Json& record);
Document application_list(const JsonArray& records);
// Keys: instance-type, addons, tag, tags, published, immutable, status, versions (for `wait`: the number of a
// version).
const std::vector<std::string>& application_condition_keys();
bool application_matches(const Json& record, const Condition& condition);

}  // namespace svc::cli
