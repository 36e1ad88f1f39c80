// svc-lxc VERB PATH NAME ...: all that needs liblxc, in a process of its own. Only the runtime starts it:
// descriptor 3 is the control socket.
#include <fcntl.h>
#include <lxc/lxccontainer.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/control.h"

namespace {

bool is(const char* text, const char* other) {
    return std::strcmp(text, other) == 0;
}

int usage() {
    std::fprintf(stderr,
                 "usage: svc-lxc start|once|agent|query|exec PATH NAME ...   (started by svcd)\n       "
                 "svc-lxc claim USER DEVICE...\n       "
                 "svc-lxc version\n");
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    using namespace svc::lxc;
    if (count == 2 && is(arguments[1], "version")) return std::puts(lxc_get_version()) < 0 ? 1 : 0;
    if (count < 4) return usage();
    if (is(arguments[1], "claim"))
        return claim_binder_devices(static_cast<uid_t>(std::strtoul(arguments[2], nullptr, 10)),
                                    arguments + 3);
    ::umask(022);  // for programs in the container; the daemon's umask is stricter
    ::fcntl(control_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(command_fd, F_SETFD, FD_CLOEXEC);
    const char* verb = arguments[1];
    const bool starts = is(verb, "start") && count == 6;
    const bool once = is(verb, "once") && count >= 6;
    const bool locks = starts || once || is(verb, "agent");
    const int lock = locks ? lock_container(arguments[2], arguments[3]) : -1;
    // The daemon may have been killed before this process took the lock; then a new daemon has not waited for
    // it.
    if (is_readable(control_fd, 0) || (locks && lock < 0)) return send_failure("not wanted any more"), 1;
    svc::failpoint("helper.locked");
    lxc_container* container = lxc_container_new(arguments[3], arguments[2]);
    if (container == nullptr) return send_failure("cannot load the container"), 1;
    if (starts || once) watch_delegation();
    if (starts) return start_container(container, arguments[4], is(arguments[5], "agent"), lock);
    if (once) return run_once(container, arguments[4], arguments + 5, lock);
    if (is(verb, "agent")) return enter_agent(container, true);
    if (is(verb, "query")) return enter_agent(container, false);
    if (is(verb, "exec") && count >= 5)
        return exec_command(container, static_cast<unsigned>(std::strtoul(arguments[4], nullptr, 10)),
                            count == 6 ? arguments[5] : nullptr);
    return usage();
}
