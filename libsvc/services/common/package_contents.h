#pragma once
// What application and addon packages have in common.
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/formats/package.h"

namespace svc {

// The document in manifest.yaml. Throws invalid_argument "manifest.yaml not found", "manifest is malformed:
// ...".
Json read_manifest_document(const PackageListing& listing);
// Logs the keys of a manifest that mean nothing here.
void log_ignored_keys(const std::string& package, const std::vector<std::string>& keys);
// Names of the hooks it has, in the order of the archive. What else lies in hooks/ is what they call. Throws
// invalid_argument "hooks/<name> not executable".
std::vector<std::string> read_hooks(const PackageListing& listing);

}  // namespace svc
