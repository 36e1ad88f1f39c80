#include "server/gateway/state_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "libsvc/base/error.h"

namespace svc::gateway {

namespace {

// Also when it was there before, with another mode.
void make_private(const std::filesystem::path& path) {
    make_directories(path, 0700);
    if (chmod(path.c_str(), 0700) != 0) throw system_error("cannot set the mode of " + path.string(), errno);
}

FileDescriptor lock_file(const std::filesystem::path& root) {
    FileDescriptor lock = open_file(root / "lock", O_RDWR | O_CREAT);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) throw system_error("cannot lock state directory " + root.string(), errno);
    throw Error(ErrorCode::busy, "state directory " + root.string() + " is in use by another svc-gateway");
}

}  // namespace

StateDirectory::StateDirectory(const std::filesystem::path& root) : root_(std::filesystem::absolute(root)) {
    make_private(root_);
    lock_ = lock_file(root_);
    make_private(root_ / "tls");
}

}  // namespace svc::gateway
