#pragma once
// Stores a recorded trace in a file.
#include <filesystem>
#include <string_view>
#include <vector>

namespace svc::agent {

// Writes the pieces one after another into <directory>/svc-agent_<pid>.<n>, the first n from 0 that is free,
// and returns its path. On failure it removes the file and throws internal "Failed to write trace: <reason>".
std::filesystem::path write_trace_file(const std::filesystem::path& directory,
                                       const std::vector<std::string_view>& pieces);

}  // namespace svc::agent
