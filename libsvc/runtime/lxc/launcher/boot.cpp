#include "libsvc/runtime/lxc/launcher/boot.h"

#include <linux/sched.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdint>

#include "libsvc/runtime/lxc/launcher/groups.h"
#include "libsvc/runtime/lxc/launcher/guest_network.h"
#include "libsvc/runtime/lxc/launcher/messages.h"

namespace svc::lxc {

namespace {

constexpr std::uint64_t namespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET;

// The kernel counts what the processes of a user namespace hold (inotify instances, namespaces, queued
// messages, locked memory, pending signals, processes) also against the user who made it. An id of the
// container's own range makes it, so no container uses up the counts of another. Differs between containers,
// also where they share a range.
unsigned creator_of(const Plan& plan, const std::string& name) {
    std::uint32_t hash = 0x811c9dc5;  // FNV-1a
    for (const unsigned char c : name) hash = (hash ^ c) * 0x01000193;
    return plan.first_id + hash % plan.id_count;
}

// The process keeps its capabilities meanwhile: some machines allow only root to make a user namespace.
class ActingAs {
  public:
    explicit ActingAs(unsigned user) {
        check(::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP), "cannot keep capabilities");
        check(::syscall(SYS_setresuid, -1, user, -1), "cannot act as a user of the container");
    }
    ~ActingAs() {
        if (::syscall(SYS_setresuid, -1, 0, -1) != 0 || ::prctl(PR_SET_SECUREBITS, 0) != 0) ::_exit(1);
    }
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
};

pid_t clone_guest(int group, int* process) {
    clone_args arguments{};
    arguments.flags = namespaces | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
    arguments.pidfd = reinterpret_cast<std::uint64_t>(process);
    arguments.exit_signal = SIGCHLD;
    if (group >= 0) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<std::uint64_t>(group);
    }
    return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

void write_id_maps(const Plan& plan, pid_t process) {
    const std::string map = "0 " + std::to_string(plan.first_id) + " " + std::to_string(plan.id_count);
    for (const char* file : {"uid_map", "gid_map"})
        write_text(AT_FDCWD, "/proc/" + std::to_string(process) + "/" + file, map);
}

// What the guest's process waits for, in its order.
void prepare(const GuestStart& start, const Groups& groups, pid_t process, int socket) {
    write_id_maps(start.plan, process);
    limit_resources(start.plan, process);
    send_byte(socket, static_cast<char>(GuestStep::ids));
    if (start.plan.network) make_device_pair(*start.plan.network, process);
    send_byte(socket, static_cast<char>(GuestStep::network));
    groups.enter(process);
    send_byte(socket, static_cast<char>(GuestStep::groups));
}

// Until the socket is closed: init is executed then.
void follow(Boot& boot, int socket) {
    for (;;) {
        Received received = receive(socket);
        if (received.kind == Received::Kind::end) return;
        if (received.kind == Received::Kind::text) throw LaunchFailure(received.text);
        if (received.kind == Received::Kind::terminals) boot.terminals = std::move(received.descriptors);
        if (received.kind == Received::Kind::process) boot.agent = boot.agent == 0 ? received.process : 0;
    }
}

void end(const Boot& boot) {
    ::kill(boot.init, SIGKILL);
    while (::waitpid(boot.init, nullptr, 0) < 0 && errno == EINTR) continue;
}

// Where a step fails because the guest's process has, that one's reason is told.
void lead(Boot& boot, const GuestStart& start, const Groups& groups, int socket) {
    try {
        prepare(start, groups, boot.init, socket);
    } catch (const LaunchFailure&) {
        ::kill(boot.init, SIGKILL);
        follow(boot, socket);
        throw;
    }
    follow(boot, socket);
}

}  // namespace

void limit_resources(const Plan& plan, pid_t process) {
    for (const ResourceLimit& limit : plan.resource_limits) {
        const rlimit64 values{limit.value, limit.value};
        check(::prlimit64(process, static_cast<__rlimit_resource>(limit.resource), &values, nullptr),
              "cannot limit a resource");
    }
}

Boot boot(const GuestStart& start, const std::string& name) {
    const Groups groups(start.plan);
    auto [ours, theirs] = make_socket_pair();
    Boot boot;
    int process = -1;
    {
        const ActingAs creator(creator_of(start.plan, name));
        boot.init = clone_guest(groups.version_2(), &process);
        if (boot.init == 0) {
            ours.reset();
            be_guest(start, theirs.get());
        }
    }
    check(boot.init, "cannot make the namespaces of the container");
    boot.process = Descriptor(process);
    theirs.reset();
    try {
        lead(boot, start, groups, ours.get());
    } catch (...) {
        end(boot);
        throw;
    }
    if (boot.terminals.empty()) {
        end(boot);
        throw LaunchFailure("the first process of the container ended");
    }
    return boot;
}

}  // namespace svc::lxc
