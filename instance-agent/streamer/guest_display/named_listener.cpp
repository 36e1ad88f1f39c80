#include "instance-agent/streamer/guest_display/named_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

// Bound under another name and renamed after listen(), so that a guest that sees the socket can connect.
FileDescriptor listen_at(const std::string& path, int type, const std::string& what) {
    const std::string aside = path + "." + std::to_string(getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (aside.size() >= sizeof(address.sun_path))
        throw Error(ErrorCode::invalid_argument, "the " + what + "'s path is too long");
    std::memcpy(address.sun_path, aside.c_str(), aside.size() + 1);
    FileDescriptor fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) throw system_error(what, errno);
    unlink(aside.c_str());
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        chmod(aside.c_str(), 0660) != 0 || listen(fd.get(), 4) != 0 ||
        rename(aside.c_str(), path.c_str()) != 0) {
        const int error = errno;
        unlink(aside.c_str());
        throw system_error(what, error);
    }
    return fd;
}

ino_t inode_of(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

NamedListener::NamedListener(const std::string& path, int type, const std::string& what)
    : path_(path), fd_(listen_at(path, type, what)), inode_(inode_of(path)) {}

NamedListener::~NamedListener() {
    if (owns_name()) unlink(path_.c_str());
}

bool NamedListener::owns_name() const {
    return inode_ != 0 && inode_of(path_) == inode_;
}

FileDescriptor NamedListener::accept() const {
    return FileDescriptor(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace svc::streamer
