#pragma once
// System calls that no guest needs, as a profile for liblxc. Most of them fail anyway for root inside; here
// they do not even reach the code that an attacker would look for mistakes in. io_uring answers as a kernel
// without it: programs fall back.
#include <string_view>

namespace svc::lxc {

constexpr std::string_view seccomp_profile =
    "2\n"
    "denylist\n"
    "reject_force_umount\n"
    "[all]\n"
    "acct errno 1\n"
    "bpf errno 1\n"
    "delete_module errno 1\n"
    "finit_module errno 1\n"
    "init_module errno 1\n"
    "io_uring_enter errno 38\n"
    "io_uring_register errno 38\n"
    "io_uring_setup errno 38\n"
    "ioperm errno 1\n"
    "iopl errno 1\n"
    "kexec_file_load errno 1\n"
    "kexec_load errno 1\n"
    "open_by_handle_at errno 1\n"
    "perf_event_open errno 1\n"
    "quotactl errno 1\n"
    "quotactl_fd errno 1\n"
    "swapoff errno 1\n"
    "swapon errno 1\n"
    "syslog errno 1\n";

}  // namespace svc::lxc
