#pragma once
// What a bootstrap leaves behind in the version it makes.
#include <filesystem>
#include <string>
#include <vector>

#include "instance-agent/agent/paths.h"

namespace svc::agent {

// Removes everything from the application's directory but manifest.yaml, hooks/ and what a pattern of `keep`
// matches: shell patterns over the whole path relative to it, `*` and `?` stop at a slash; of a directory
// that matches, everything stays.
void clean_app(const std::filesystem::path& app, const std::vector<std::string>& keep);

// Removes what the agent wrote for itself: logs, progress, downloads.
void clean_own(const Paths& paths);

}  // namespace svc::agent
