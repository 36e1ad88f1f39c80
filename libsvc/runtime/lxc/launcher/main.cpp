// svc-launch VERB PATH NAME ...: starts containers and enters them, in the place of svc-lxc and with the same
// verbs and messages. Only the runtime starts it: descriptor 3 is the control socket.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/control.h"
#include "libsvc/runtime/lxc/launcher/verbs.h"

namespace {

int usage() {
    std::fprintf(stderr, "usage: svc-launch start|once|agent|query|exec PATH NAME ...   (started by svcd)\n");
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    using namespace svc::lxc;
    if (count == 2 && std::string_view(arguments[1]) == "version") return std::puts("svc-launch") < 0 ? 1 : 0;
    if (count < 4) return usage();
    if (std::string_view(arguments[1]) == "claim")
        return claim_binder_devices(static_cast<uid_t>(std::strtoul(arguments[2], nullptr, 10)),
                                    arguments + 3);
    ::umask(022);  // for programs in the container; the daemon's umask is stricter
    ::fcntl(control_fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(command_fd, F_SETFD, FD_CLOEXEC);
    const std::string_view verb = arguments[1];
    const std::string folder = std::string(arguments[2]) + "/" + arguments[3];
    const bool starts = verb == "start" && count == 6;
    const bool once = verb == "once" && count >= 6;
    const bool locks = starts || once || verb == "agent";
    const int lock = locks ? lock_container(arguments[2], arguments[3]) : -1;
    // The daemon may have been killed before this process took the lock; then a new daemon has not waited for
    // it.
    if (is_readable(control_fd, 0) || (locks && lock < 0)) return send_failure("not wanted any more"), 1;
    svc::failpoint("launch.locked");
    if (starts)
        return start_container({folder, arguments[4], std::string_view(arguments[5]) == "agent", {}}, lock);
    if (once) return start_container({folder, arguments[4], false, {arguments + 5, arguments + count}}, lock);
    if (verb == "agent") return start_agent(folder);
    if (verb == "query") return query_container(folder);
    if (verb == "exec" && count >= 5)
        return execute_command(folder, static_cast<unsigned>(std::strtoul(arguments[4], nullptr, 10)),
                               count == 6 ? arguments[5] : nullptr);
    return usage();
}
