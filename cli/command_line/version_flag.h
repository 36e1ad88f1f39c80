#pragma once
// The flag -v/--version of commands that can address one version of an object.
#include <optional>
#include <string>

#include "cli/command_line/command.h"

namespace svc::cli {

Flag version_flag();
std::optional<int> version_of(
    const Arguments& arguments);  // nothing: the flag is not given. Throws UsageError
int parse_version(const std::string& name,
                  std::optional<std::int64_t> number);  // throws UsageError unless it can be a version
std::string version_words(std::optional<int> version);  // ", version 3" or ""

}  // namespace svc::cli
