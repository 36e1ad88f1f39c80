#include "server/process/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "libsvc/base/error.h"

namespace svc::process {

void make_folder(const std::filesystem::path& path, unsigned mode) {
    make_directories(path, mode);
    if (chmod(path.c_str(), mode) != 0) throw system_error("cannot set the mode of " + path.string(), errno);
}

FileDescriptor lock_state(const std::filesystem::path& root, std::string_view program) {
    FileDescriptor lock = open_file(root / "lock", O_RDWR | O_CREAT);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) throw system_error("cannot lock state directory " + root.string(), errno);
    throw Error(ErrorCode::busy,
                "state directory " + root.string() + " is in use by another " + std::string(program));
}

}  // namespace svc::process
