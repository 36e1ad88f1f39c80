#pragma once
// A command in an instance, over LXD's websockets.
#include <functional>
#include <memory>

#include "libsvc/runtime/lxd/connection.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxd {

// The body of a request for a command without a terminal; with `streams` LXD waits for its websockets.
Json exec_request(const ExecSpec& spec, bool streams);
// What a command asks of its instance. Called on the threads of the command and of its owner.
struct ContainerLook {
    std::function<bool()> stopped;  // it has stopped, or is being stopped; may wait
    std::function<bool()> frozen;
};
std::unique_ptr<ExecProcess> run_exec(Connection& lxd, std::string_view id, const ExecSpec& spec,
                                      ContainerLook look);
// The exit code of an ended command, by the record of its operation.
int exit_code_of(const Json& operation);

}  // namespace svc::lxd
