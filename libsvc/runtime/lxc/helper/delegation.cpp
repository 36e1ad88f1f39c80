// Which control groups a guest gets. liblxc gives the group of every hierarchy to the container's root, by
// fchownat(), from a process of its own before init is executed. That call comes here, as a program's
// functions go before those of the C library: so a guest never owns what it must not, and no hook has to take
// it back.
//
// Of version 2 it gets its group once that is limited; of version 1 only where no controller is (systemd's).
// The others could not be limited: groups take memory that nobody is charged for and numbers of which the
// kernel has 65,535 for all, and what is frozen there cannot be killed.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libsvc/runtime/lxc/helper/control.h"

namespace svc::lxc {

namespace {

// The depth keeps every path below PATH_MAX, whatever the names.
constexpr const char* most_groups = "4096";
constexpr const char* most_levels = "12";

bool* asked = nullptr;  // shared with the processes that are forked

// Hierarchies of version 1 without a controller. More than these are not for guests.
std::array<dev_t, 8> without_controller{};
std::size_t known = 0;

bool write_limit(int group, const char* file, const char* value) {
    const int fd = ::openat(group, file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const auto size = static_cast<ssize_t>(std::strlen(value));
    const bool written = ::write(fd, value, static_cast<std::size_t>(size)) == size;
    ::close(fd);
    return written;
}

bool is_controller(const char* option) {
    constexpr std::array<const char*, 4> others = {"rw", "ro", "xattr", "clone_children"};
    for (const char* other : others)
        if (std::strcmp(option, other) == 0) return false;
    return std::strncmp(option, "name=", 5) != 0 && std::strncmp(option, "release_agent=", 14) != 0;
}

// Of a line of mountinfo; what it tells of the file system is behind " - ".
void note_hierarchy(char* line) {
    unsigned first = 0;
    unsigned second = 0;
    char* type = std::strstr(line, " - cgroup ");
    if (type == nullptr || known == without_controller.size() ||
        std::sscanf(line, "%*d %*d %u:%u", &first, &second) != 2)
        return;
    char* options = std::strrchr(type, ' ') + 1;
    while (const char* option = ::strsep(&options, ",\n"))
        if (*option != '\0' && is_controller(option)) return;
    without_controller[known++] = makedev(first, second);
}

// Once, as reading it takes the kernel longer than all the rest.
void note_hierarchies() {
    FILE* mounts = std::fopen("/proc/self/mountinfo", "re");
    if (mounts == nullptr) return;
    char* line = nullptr;
    std::size_t space = 0;
    while (::getline(&line, &space, mounts) > 0) note_hierarchy(line);
    std::free(line);
    std::fclose(mounts);
}

bool has_no_controller(int group) {
    struct stat info {};
    if (::fstat(group, &info) != 0) return false;
    const dev_t* const first = without_controller.data();
    return std::find(first, first + known, info.st_dev) != first + known;
}

decltype(statfs::f_type) file_system_of(int folder) {
    struct statfs info {};
    return ::fstatfs(folder, &info) == 0 ? info.f_type : 0;
}

// `file`: of the group; empty: the group itself, which comes first.
bool is_for_guest(int group, const char* file) {
    if (file_system_of(group) == CGROUP_SUPER_MAGIC) return has_no_controller(group);
    return *file != '\0' || (write_limit(group, "cgroup.max.descendants", most_groups) &&
                             write_limit(group, "cgroup.max.depth", most_levels));
}

// For the C library's fchownat().
int change_owner(int folder, const char* path, uid_t user, gid_t group, int flags) {
    const auto type = file_system_of(folder);
    if (type == CGROUP_SUPER_MAGIC || type == CGROUP2_SUPER_MAGIC) {
        if (asked != nullptr) *asked = true;
        if (!is_for_guest(folder, path)) return errno = EPERM, -1;
    }
    return static_cast<int>(::syscall(SYS_fchownat, folder, path, user, group, flags));
}

}  // namespace

void watch_delegation() {
    void* page = ::mmap(nullptr, sizeof *asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    asked = page == MAP_FAILED ? nullptr : static_cast<bool*>(page);
    note_hierarchies();
}

bool delegation_was_asked() {
    return asked != nullptr && *asked;
}

}  // namespace svc::lxc

extern "C" __attribute__((visibility("default"))) int fchownat(int folder, const char* path, uid_t user,
                                                               gid_t group, int flags) noexcept {
    return svc::lxc::change_owner(folder, path, user, group, flags);
}
