#include "cli/command_line/version_flag.h"

#include <limits>

namespace svc::cli {

Flag version_flag() {
    return {"version", 'v', "N", "only this version"};
}

int parse_version(const std::string& name, std::optional<std::int64_t> number) {
    if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
        throw UsageError(name + ": expected a version's number");
    return static_cast<int>(*number);
}

std::optional<int> version_of(const Arguments& arguments) {
    if (!arguments.given("version")) return std::nullopt;
    return parse_version("--version", arguments.integer("version"));
}

std::string version_words(std::optional<int> version) {
    return version ? ", version " + std::to_string(*version) : "";
}

}  // namespace svc::cli
