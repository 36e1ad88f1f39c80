#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/control.h"
#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/verbs.h"

namespace svc::lxc {

namespace {

// The daemon finds the monitor by a file of the container's folder, whatever happens to this process from now
// on. Until the file is there, the monitor ends with this process.
void record_monitor(const MonitorStart& start, pid_t parent) {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(1);
    failpoint("launch.monitor_forked");
    if (!write_process_file((start.folder + "/monitor").c_str(), ::getpid())) ::_exit(1);
    failpoint("launch.monitor_recorded");
    ::prctl(PR_SET_PDEATHSIG, 0);
}

}  // namespace

// The monitor answers the runtime itself; this process only stays until it has, so that a start that hangs
// can be ended.
int start_container(const MonitorStart& start, int lock) {
    int answered[2];
    if (::pipe2(answered, O_CLOEXEC) != 0) return send_failure("cannot make a pipe"), 1;
    const pid_t parent = ::getpid();
    const pid_t monitor = ::fork();
    if (monitor < 0) return send_failure("cannot fork"), 1;
    if (monitor == 0) {
        record_monitor(start, parent);
        ::setsid();
        use_null_stdio();
        ::close(lock);  // only now: a next daemon waits for it before it looks for the monitor
        ::close(answered[0]);
        if (::chdir("/") != 0) ::_exit(1);
        failpoint("launch.monitor_starts");
        be_monitor(start, answered[1]);
    }
    failpoint("launch.forked");
    ::close(answered[1]);
    char byte = 0;
    ssize_t got = 0;
    while ((got = ::read(answered[0], &byte, 1)) < 0 && errno == EINTR) continue;
    if (got == 1) return 0;
    ::waitpid(monitor, nullptr, 0);
    return send_failure("init was not started"), 1;
}

}  // namespace svc::lxc
