#pragma once
// The helper's end of the control socket, and other small things its verbs share. No libstdc++ containers
// here: the program lives on as each container's monitor and should stay small.
#include <lxc/lxccontainer.h>

#include "libsvc/runtime/lxc/helper/protocol.h"

namespace svc::lxc {

// False when the daemon is gone.
bool send_message(const HelperMessage& message, const int* descriptors = nullptr, unsigned count = 0);
bool send_failure(const char* text);
void use_null_stdio();
int open_pidfd(pid_t pid);
bool is_readable(int fd, int timeout_ms);
bool is_ending(pid_t pid);  // has ended, or is in the middle of it

// Verbs. Each returns the exit status of the program.
int start_container(lxc_container* container, const char* exit_file, bool agent);
int enter_agent(lxc_container* container, bool agent);
int exec_command(lxc_container* container, unsigned root_id, const char* terminal_size);

// Starts svc-agent inside as a child of the container's init. Returns its pid here, 0 on failure.
pid_t attach_agent(lxc_container* container);

}  // namespace svc::lxc
