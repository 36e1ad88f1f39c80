#pragma once
// Application records as the CLI shows and filters them.
#include "cli/output/document.h"
#include "cli/views/instance_view.h"

namespace svc::cli {

Json application_value(const Json& record);
Document application_list(const JsonArray& records);
// Keys: instance-type, addons, tag, tags, published, immutable, status, versions (of `wait`: a version's
// number).
const std::vector<std::string>& application_condition_keys();
bool application_matches(const Json& record, const Condition& condition);

}  // namespace svc::cli
