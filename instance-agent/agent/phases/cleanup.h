#pragma once
// Removes from a base instance what the version that is made of it shall not contain.
#include <filesystem>
#include <string>
#include <vector>

#include "instance-agent/agent/files/paths.h"

namespace svc::agent {

// Removes everything from the application's folder but manifest.yaml, hooks/ and the paths that a pattern of
// `keep` matches. Patterns are shell patterns for the whole path relative to the folder; `*` and `?` do not
// match a slash. A folder that matches stays with all that is in it.
void clean_app(const std::filesystem::path& app, const std::vector<std::string>& keep);

// Removes the agent's own files: logs, progress, downloads.
void clean_own(const Paths& paths);

}  // namespace svc::agent
