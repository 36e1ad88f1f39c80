#include "libsvc/runtime/lxc/launcher/follow.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>

#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

int follow(const Boot& boot, ConsoleLog& log) {
    const int console = boot.terminals.front().get();
    for (;;) {
        std::array<pollfd, 2> waited = {{{console, POLLIN, 0}, {boot.process.get(), POLLIN, 0}}};
        if (::poll(waited.data(), waited.size(), -1) < 0) continue;
        if ((waited[0].revents & POLLIN) != 0)
            log.take(console);
        else if (waited[1].revents != 0)
            break;
    }
    siginfo_t end{};
    while (::waitid(P_PID, static_cast<id_t>(boot.init), &end, WEXITED) != 0 && errno == EINTR) continue;
    return end.si_code == CLD_EXITED ? end.si_status << 8 : end.si_status << 8 | 0x7f;
}

bool restarts_itself(int status) {
    return status == (SIGHUP << 8 | 0x7f);
}

// An init that fails at once is no guest; entering it for the agent would have taken longer than this.
bool ended_at_once(const Boot& boot) {
    return is_readable(boot.process.get(), boot.agent > 0 ? 0 : 5);
}

void run_stop_command(const std::string& command) {
    const pid_t child = command.empty() ? -1 : ::fork();
    if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        ::_exit(127);
    }
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace svc::lxc
