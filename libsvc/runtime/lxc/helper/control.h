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
struct ProcessStat {
    char state = 'X';
    pid_t parent = 0;
    unsigned flags = 0;
    unsigned long long start_ticks = 0;
};
ProcessStat read_stat(pid_t pid);  // state X: there is none; ?: nobody could look
bool is_ending(pid_t pid);         // has ended, or is in the middle of it

// Taken by `start` and `agent` as long as they work: a daemon that comes after one that died waits for them.
int lock_container(const char* path, const char* name);
void replace_file(const char* file, const char* text);
// "PID TICKS" of the agent, in the container's folder. Reading gives 0 unless that very process runs.
pid_t read_agent_file(const char* file);
void write_agent_file(const char* file, pid_t pid);

// Verbs. Each returns the exit status of the program.
int start_container(lxc_container* container, const char* exit_file, bool agent, int lock);
int run_once(lxc_container* container, const char* exit_file, char** command, int lock);
int enter_agent(lxc_container* container, bool agent);
int exec_command(lxc_container* container, unsigned root_id, const char* terminal_size);

// Starts svc-agent inside as a child of the container's init, unless the one noted in its file runs. Returns
// its pid here, 0 on failure.
pid_t attach_agent(lxc_container* container);

}  // namespace svc::lxc
