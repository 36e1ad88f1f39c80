#pragma once
// A command in a container, as the runtime describes it in the file of command_fd, and its end. Shared by the
// programs that enter containers.
#include <sys/types.h>

namespace svc::lxc {

struct Command {
    char** arguments = nullptr;
    char** environment = nullptr;
    bool terminal = false;
    int report = -1;  // gets the errno of execve(); closed when the command runs
};
bool read_command(Command& command);

// Makes the terminal the streams of this process. `size`: "80x24".
bool use_terminal(int terminal, unsigned root_id, const char* size);
// Inside the container, as its root: executes the command (a Command*). Does not return.
int run_command(void* command);

int wait_for_exec(int report);  // the errno of execve(), 0 when the command runs
// Waits for the command of the pidfd. Kills it when the daemon ends or closes the socket.
void wait_for_end(int command);
int report_end(pid_t pid, pid_t init);  // returns the exit status of this program

}  // namespace svc::lxc
