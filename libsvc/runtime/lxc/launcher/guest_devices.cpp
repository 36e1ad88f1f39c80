#include "libsvc/runtime/lxc/launcher/guest_devices.h"

#include <linux/mount.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <string>

#include "libsvc/runtime/lxc/launcher/mounts.h"

namespace svc::lxc {

namespace {

// Bound from the host: nobody makes device nodes in a user namespace.
void bind_devices(int host) {
    for (const char* name : {"full", "null", "random", "tty", "urandom", "zero"}) {
        const std::string path = std::string("/dev/") + name;
        const Descriptor device = clone_mount(host, path.substr(1));
        if (!device) throw LaunchFailure("the host has no device '" + path + "'");
        make_file(path);
        attach(device, path);
    }
}

void link_streams() {
    constexpr const char* links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                        {"/proc/self/fd/0", "/dev/stdin"},
                                        {"/proc/self/fd/1", "/dev/stdout"},
                                        {"/proc/self/fd/2", "/dev/stderr"}};
    for (const auto& [target, path] : links)
        check(::symlink(target, path), std::string("cannot make '") + path + "'");
}

void mount_terminals(const Plan& plan) {
    const std::string most = std::to_string(plan.most_terminals + plan.terminals);
    check(::mkdir("/dev/pts", 0755), "cannot make '/dev/pts'");
    attach(new_file_system("devpts", "devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                           {{"newinstance", nullptr},
                            {"ptmxmode", "0666"},
                            {"mode", "0620"},
                            {"gid", "5"},
                            {"max", most.c_str()}}),
           "/dev/pts");
    make_file("/dev/ptmx");
    attach(clone_mount(AT_FDCWD, "/dev/pts/ptmx"), "/dev/ptmx");
}

Terminal open_terminal(const std::string& path, mode_t mode) {
    Terminal terminal;
    terminal.master = opened(AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY, "cannot open");
    const int unlocked = 0;
    unsigned number = 0;
    check(::ioctl(terminal.master.get(), TIOCSPTLCK, &unlocked), "cannot unlock a terminal");
    check(::ioctl(terminal.master.get(), TIOCGPTN, &number), "cannot ask for the number of a terminal");
    terminal.slave = Descriptor(
        static_cast<int>(check(::ioctl(terminal.master.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC),
                               "cannot open a terminal")));
    check(::fchmod(terminal.slave.get(), mode), "cannot set the mode of a terminal");
    make_file(path);
    attach(clone_mount(AT_FDCWD, "/dev/pts/" + std::to_string(number)), path);
    return terminal;
}

}  // namespace

std::vector<Terminal> make_devices(const Plan& plan, int host) {
    make_folder("/dev");
    attach(new_file_system("tmpfs", "none", 0, {{"size", "500000"}, {"mode", "755"}}), "/dev");
    bind_devices(host);
    link_streams();
    mount_terminals(plan);
    std::vector<Terminal> terminals;
    terminals.push_back(open_terminal("/dev/console", 0700));
    for (unsigned n = 1; n <= plan.terminals; ++n)
        terminals.push_back(open_terminal("/dev/tty" + std::to_string(n), 0620));
    return terminals;
}

}  // namespace svc::lxc
