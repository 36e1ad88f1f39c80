#pragma once
// The helper's end of the control socket, and functions that its verbs share. No containers of the C++
// library here: the program stays in memory as the monitor of each container and should be small.
#include <sys/types.h>

#include "libsvc/runtime/lxc/helper/protocol.h"

struct lxc_container;

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
ProcessStat read_stat(pid_t pid);  // state X: no such process; ?: it could not be read
bool is_ending(pid_t pid);         // has ended, or is exiting

// `start` and `agent` hold this lock while they work: a daemon that replaces a killed one waits for it.
int lock_container(const char* path, const char* name);
bool replace_file(const char* file, const char* text);
// The file with "PID TICKS" of the agent in the container's folder. Reading gives 0 unless exactly that
// process runs.
pid_t read_agent_file(const char* file);
bool write_process_file(const char* file, pid_t pid);

// Verbs. Each returns the exit status of the program.
int claim_binder_devices(uid_t user, char** devices);  // until a null pointer; without a container
int start_container(lxc_container* container, const char* exit_file, bool agent, int lock);
int run_once(lxc_container* container, const char* exit_file, char** command, int lock);
int enter_agent(lxc_container* container, bool agent);
int exec_command(lxc_container* container, unsigned root_id, const char* terminal_size);

// Makes the user namespace that the container is to be started in; the descriptor of it stays open.
bool use_own_user_namespace(lxc_container* container);

// Whether liblxc has asked which control groups the guest gets, since watch_delegation(): a monitor that is
// forked afterwards counts as well. Where it has not, it gives them away in a way that delegation.cpp does
// not know.
void watch_delegation();
bool delegation_was_asked();

// Starts svc-agent inside as a child of the container's init, unless the agent in the file runs. Returns its
// pid on the host; 0 on failure.
pid_t attach_agent(lxc_container* container);

}  // namespace svc::lxc
