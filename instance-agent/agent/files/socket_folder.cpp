#include "instance-agent/agent/files/socket_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

// Opens the folder `name` in `parent`; makes it with `mode` when it is absent. Does not follow links: the
// user can put a link into the user's own folder.
FileDescriptor enter(int parent, const char* name, unsigned mode, bool of_user) {
    const bool made = mkdirat(parent, name, mode) == 0;
    FileDescriptor folder(openat(parent, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) throw system_error("cannot open folder " + quoted(name), errno);
    if (made && of_user && fchown(folder.get(), instance_user, instance_user) != 0)
        throw system_error("cannot give folder " + quoted(name) + " to the user", errno);
    return folder;
}

}  // namespace

void prepare_socket_folder(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return;
    make_directories(folder, 0755);
    if (chmod(folder.c_str(), 0751) != 0) throw system_error("cannot open the folder of sockets", errno);
    give_to_user(folder);
}

void give_to_user(const std::filesystem::path& file) {
    if (geteuid() != 0) return;
    if (lchown(file.c_str(), instance_user, instance_user) != 0)
        throw system_error("cannot give " + quoted(file.filename().native()) + " to the user", errno);
}

void link_for_user(const std::filesystem::path& folder, const std::filesystem::path& run) {
    if (geteuid() != 0) return;
    const FileDescriptor top = open_file(run, O_DIRECTORY);
    const FileDescriptor users = enter(top.get(), "user", 0755, false);
    const FileDescriptor user = enter(users.get(), std::to_string(instance_user).c_str(), 0700, true);
    const FileDescriptor ours = enter(user.get(), "svc-agent", 0750, true);
    if (symlinkat(folder.c_str(), ours.get(), "sockets") != 0 && errno != EEXIST)
        throw system_error("cannot link the sockets for the user", errno);
}

}  // namespace svc::agent
