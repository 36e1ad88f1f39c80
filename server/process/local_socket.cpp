#include "server/process/local_socket.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::process {

int socket_group() {
    const group* entry = geteuid() == 0 ? getgrnam("svc") : nullptr;
    return entry ? static_cast<int>(entry->gr_gid) : -1;
}

void make_socket_folder(const std::filesystem::path& socket) {
    const auto folder = std::filesystem::absolute(socket).parent_path();
    std::error_code ignored;
    if (std::filesystem::exists(folder, ignored)) return;
    make_directories(folder, 0755);
    if (chmod(folder.c_str(), 0755) != 0)
        throw system_error("cannot set the mode of " + folder.string(), errno);
}

}  // namespace svc::process
