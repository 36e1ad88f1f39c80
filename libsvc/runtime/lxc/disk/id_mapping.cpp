#include "libsvc/runtime/lxc/disk/id_mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libsvc/base/error.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// clone() of the sanitizer assumes that the child has memory of its own, and aborts the process.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);  // NOLINT(bugprone-reserved-identifier)
#define SVC_ID_SHIFT_CLONE __clone
#endif
#endif
#ifndef SVC_ID_SHIFT_CLONE
#define SVC_ID_SHIFT_CLONE ::clone
#endif

namespace svc::lxc {

namespace {

constexpr std::size_t stack_bytes = 16384;

int end_at_once(void*) {
    return 0;
}

// A process that has ended in a user namespace of its own, and is not reaped before the destructor: until
// then its namespace can be configured and opened. Nothing is left behind where this process is killed.
class EndedProcess {
  public:
    EndedProcess() {
        alignas(16) std::array<char, stack_bytes> stack;
        // CLONE_VFORK: the child has ended when this continues. CLONE_FILES: no descriptor is copied for it.
        // No signal at its end: it is no child that other code waits for.
        pid_ = SVC_ID_SHIFT_CLONE(end_at_once, stack.data() + stack.size(),
                                  CLONE_NEWUSER | CLONE_VM | CLONE_VFORK | CLONE_FILES, nullptr);
        if (pid_ < 0) throw system_error("cannot make a user namespace", errno);
    }
    ~EndedProcess() {
        while (::waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) continue;
    }
    EndedProcess(const EndedProcess&) = delete;
    EndedProcess& operator=(const EndedProcess&) = delete;

    std::filesystem::path file(std::string_view name) const { return fmt::format("/proc/{}/{}", pid_, name); }

  private:
    pid_t pid_ = -1;
};

}  // namespace

FileDescriptor make_id_map(const IdMapping& mapping) {
    const std::string lines = fmt::format("0 0 1\n{} {} {}\n", mapping.on_disk, mapping.seen, mapping.count);
    const EndedProcess process;
    for (const std::string_view name : {"uid_map", "gid_map"})
        with_context("cannot map ids",
                     [&] { write_all(open_file(process.file(name), O_WRONLY).get(), lines); });
    return open_file(process.file("ns/user"), O_RDONLY);
}

FileDescriptor open_id_mapped(const std::filesystem::path& folder, const FileDescriptor& id_map) {
    FileDescriptor tree(static_cast<int>(
        ::syscall(SYS_open_tree, AT_FDCWD, folder.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
    if (!tree) throw system_error("cannot open the files of a container", errno);
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<std::uint64_t>(id_map.get());
    if (::syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0)
        throw system_error("cannot give the files of a container other owners", errno);
    return tree;
}

}  // namespace svc::lxc
