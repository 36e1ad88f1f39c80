#pragma once
// -v/--version of commands that may mean one version alone.
#include <optional>
#include <string>

#include "cli/line/command.h"

namespace svc::cli {

Flag version_flag();
std::optional<int> version_of(const Arguments& arguments);  // nothing: not given. Throws UsageError
int parse_version(const std::string& name,
                  std::optional<std::int64_t> number);  // throws UsageError unless it is one
std::string version_words(std::optional<int> version);  // ", version 3" or ""

}  // namespace svc::cli
