#include "libsvc/base/processes/confine.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace svc {

namespace {

// Both limits: the process cannot raise it again. At the end of its processor time the first process of a
// namespace is killed by the hard limit alone.
bool limit_resource(__rlimit_resource resource, std::uint64_t value) {
    const rlimit limit{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
    return ::setrlimit(resource, &limit) == 0;
}

// By the calls of the kernel: those of the C library change all threads of the parent. The change from root
// takes all capabilities away.
bool change_user(unsigned user) {
    return ::syscall(SYS_setgroups, 0UL, nullptr) == 0 && ::syscall(SYS_setresgid, user, user, user) == 0 &&
           ::syscall(SYS_setresuid, user, user, user) == 0;
}

}  // namespace

bool confine(const Confinement& confinement) {
    // The limit of processes comes after the change of the user, which may have others: exec would fail.
    return limit_resource(RLIMIT_AS, confinement.memory_bytes) &&
           limit_resource(RLIMIT_CPU, confinement.cpu_seconds) && limit_resource(RLIMIT_FSIZE, 0) &&
           limit_resource(RLIMIT_CORE, 0) && limit_resource(RLIMIT_NOFILE, confinement.files) &&
           change_user(confinement.user) && limit_resource(RLIMIT_NPROC, 1) &&
           ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

}  // namespace svc
