#pragma once
// Reading what application and addon packages have in common: manifest and hooks.
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/formats/package.h"

namespace svc {

// The document in manifest.yaml. Throws invalid_argument "manifest.yaml not found", "manifest is malformed:
// ...".
Json read_manifest_document(const PackageListing& listing);
// Logs the keys of a manifest that this service does not know.
void log_ignored_keys(const std::string& package, const std::vector<std::string>& keys);
// Names of the package's hooks, in the order of the archive. Other files in hooks/ are what hooks call.
// Throws invalid_argument "hooks/<name> not executable".
std::vector<std::string> read_hooks(const PackageListing& listing);

}  // namespace svc
