#include "libsvc/runtime/lxc/launcher/enter.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <exception>

#include "libsvc/runtime/lxc/helper/control.h"
#include "libsvc/runtime/lxc/launcher/boot.h"
#include "libsvc/runtime/lxc/launcher/groups.h"
#include "libsvc/runtime/lxc/launcher/guest.h"
#include "libsvc/runtime/lxc/launcher/messages.h"

namespace svc::lxc {

namespace {

constexpr int all_namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP;

// A child of this process's parent: the process that joins the namespaces only leads the way.
pid_t fork_sibling() {
    clone_args arguments{};
    arguments.flags = CLONE_PARENT;
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

// The root of the container may trace a process in its namespaces that is dumpable, and so read the memory of
// the host's process of which it is a copy. The programme that is executed here is dumpable again.
void hide_memory() {
    check(::prctl(PR_SET_DUMPABLE, 0), "cannot hide the memory of the process that enters");
}

void lead_the_way(const Plan& plan, int init, int socket, const std::function<void()>& prepare,
                  const std::function<void()>& body) {
    Groups::existing(plan).enter_all(::getpid());
    limit_resources(plan, ::getpid());
    hide_memory();
    check(::setns(init, all_namespaces), "cannot enter the namespaces of the container");
    const pid_t entered = fork_sibling();
    check(entered, "cannot start a process in the container");
    if (entered != 0) return;
    become_root();
    hide_memory();  // the change of user has set it to fs.suid_dumpable, which may be 1
    prepare();
    if (!send_credentials(socket)) ::_exit(126);
    body();
    ::_exit(126);
}

}  // namespace

pid_t enter_container(const Plan& plan, const Descriptor& init, const std::function<void()>& prepare,
                      const std::function<void()>& body) {
    auto [ours, theirs] = make_socket_pair();
    const pid_t leader = ::fork();
    check(leader, "cannot start a process");
    if (leader == 0) {
        try {
            lead_the_way(plan, init.get(), theirs.get(), prepare, body);
        } catch (const std::exception& e) {
            send_text(theirs.get(), e.what());
        }
        ::_exit(0);
    }
    theirs.reset();
    const Received first = receive(ours.get());
    while (::waitpid(leader, nullptr, 0) < 0 && errno == EINTR) continue;
    if (first.kind == Received::Kind::text) throw LaunchFailure(first.text);
    if (first.kind != Received::Kind::process) throw LaunchFailure("the container has ended");
    return first.process;
}

}  // namespace svc::lxc
