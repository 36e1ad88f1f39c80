#pragma once
// What a form of the cluster configuration has to know of its keys (docs/api-changes.md, config_schema).
#include "libsvc/base/json.h"
#include "libsvc/model/cluster/config.h"

namespace svc {

// Name, type, default as text, rule, meaning, and whether it is a secret; besides `choices` where the rule is
// "one of a, b", and `minimum` and `maximum` where it is "a number from 1 to 1000".
Json describe(const ConfigKey& key);

}  // namespace svc
