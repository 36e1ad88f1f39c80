#pragma once
// A command inside a container: the daemon's ends of its pipes or terminal, and the helper process that waits
// for it.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

struct ExecContext {
    std::filesystem::path helper, containers;
    std::string id;
    std::uint32_t root_id = 0;                // host id of the container's root
    std::function<void(int pidfd)> killed{};  // called when the command was sent SIGKILL
};

// Returns when the command runs, or when it could not be executed (ExecProcess::exec_failed()). Throws
// conflict when the container does not run.
std::unique_ptr<ExecProcess> run_exec(const ExecContext& context, const ExecSpec& spec);

}  // namespace svc::lxc
