#include "cli/actions/user_program.h"

#include <unistd.h>

#include "libsvc/base/processes/process.h"

namespace svc::cli {
namespace {

constexpr int not_found_by_env = 127;

}  // namespace

std::optional<int> run_user_program(const std::vector<std::string>& words,
                                    std::vector<std::pair<int, int>> descriptors) {
    SpawnOptions options;
    options.arguments = {"/usr/bin/env"};
    options.arguments.insert(options.arguments.end(), words.begin(), words.end());
    for (char** variable = environ; *variable != nullptr; ++variable)
        options.environment.emplace_back(*variable);
    options.descriptors = std::move(descriptors);
    options.ends_with_us = true;
    const int status = Child(options).wait().code;
    return status == not_found_by_env ? std::nullopt : std::optional(status);
}

}  // namespace svc::cli
