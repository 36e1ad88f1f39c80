#include "libsvc/runtime/lxc/container/guest_logs.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "libsvc/base/file.h"

namespace svc::lxc {

namespace {

struct Source {
    const char* name;
    const char* path;  // below the writable layer
};
constexpr std::array<Source, 4> sources{{{"system.log", "var/lib/svc-agent/logs/agent.log"},
                                         {"system.log", "var/lib/svc-agent/logs/hooks.log"},
                                         {"system.log", "var/lib/svc-agent/logs/streamer.log"},
                                         {"android.log", "var/lib/svc-agent/data/logs/android.log"}}};

FileDescriptor open_beneath(int root, const char* path) {
    open_how how{};
    how.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
                O_CLOEXEC;  // O_NONBLOCK: opening a pipe must not block
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
    return FileDescriptor(static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how)));
}

bool has_text(int file) {
    struct stat status {};
    return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

}  // namespace

std::vector<LogFile> guest_logs(const std::filesystem::path& upper) {
    std::vector<LogFile> logs;
    const FileDescriptor root(::open(upper.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root) return logs;
    for (const Source& source : sources) {
        auto file = std::make_shared<const FileDescriptor>(open_beneath(root.get(), source.path));
        if (*file && has_text(file->get()))
            logs.push_back({source.name, upper / source.path, std::move(file)});
    }
    return logs;
}

}  // namespace svc::lxc
