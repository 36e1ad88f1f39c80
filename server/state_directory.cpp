#include "server/state_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "libsvc/base/error.h"

namespace svc::server {

namespace {

// Whatever the umask says, and also when it was there before.
void make_with_mode(const std::filesystem::path& path, unsigned mode) {
    make_directories(path, mode);
    if (chmod(path.c_str(), mode) != 0) throw system_error("cannot set the mode of " + path.string(), errno);
}

FileDescriptor lock_file(const std::filesystem::path& root) {
    FileDescriptor lock = open_file(root / "lock", O_RDWR | O_CREAT);
    if (flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) throw system_error("cannot lock state directory " + root.string(), errno);
    throw Error(ErrorCode::busy, "state directory " + root.string() + " is in use by another svcd");
}

}  // namespace

StateDirectory::StateDirectory(const std::filesystem::path& root) : root_(std::filesystem::absolute(root)) {
    // An instance's root, an ordinary user out here, passes through on its way to its files; it cannot list
    // anything.
    make_with_mode(root_, 0711);
    lock_ = lock_file(root_);
    for (const auto& folder : {blobs(), logs(), registry(), root_ / "server"}) make_with_mode(folder, 0700);
    make_with_mode(agent_sockets(), 0711);
}

}  // namespace svc::server
