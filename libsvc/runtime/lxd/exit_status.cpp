#include "libsvc/runtime/lxd/exit_status.h"

#include <sys/ioctl.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <optional>

namespace svc::lxd {

namespace {

// struct pidfd_info of linux/pidfd.h, which distributions do not have yet.
struct PidfdInfo {
    std::uint64_t mask = 0;
    std::uint64_t cgroup = 0;
    std::array<std::uint32_t, 11> ids{};
    std::int32_t exit_code = 0;
};
constexpr std::uint64_t with_exit_code = 1U << 3U;
constexpr unsigned long get_info = _IOWR(0xff, 11, PidfdInfo);

std::optional<int> status_of(int pidfd) {
    PidfdInfo info;
    info.mask = with_exit_code;
    if (pidfd < 0 || ::ioctl(pidfd, get_info, &info) != 0 || (info.mask & with_exit_code) == 0)
        return std::nullopt;
    return info.exit_code;
}

}  // namespace

lxc::ExitCause exit_cause(int pidfd) {
    const auto status = status_of(pidfd);
    if (!status) return {false, "the container ended", true};
    const bool signalled = WIFSIGNALED(*status);
    return lxc::describe_exit(signalled ? (WTERMSIG(*status) << 8 | 0x7f) : WEXITSTATUS(*status) << 8, 0);
}

}  // namespace svc::lxd
