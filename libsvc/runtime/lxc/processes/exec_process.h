#pragma once
// A command inside a container: our ends of its pipes or terminal, and the helper that waits for it.
#include <filesystem>
#include <memory>
#include <string>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

struct ExecContext {
    std::filesystem::path helper, containers;
    std::string id;
    std::uint32_t root_id = 0;  // the container's root, on the host
};

// Returns when the command runs, or could not be executed. Throws conflict when the container does not run.
std::unique_ptr<ExecProcess> run_exec(const ExecContext& context, const ExecSpec& spec);

}  // namespace svc::lxc
