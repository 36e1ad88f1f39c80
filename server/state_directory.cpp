#include "server/state_directory.h"

#include "libsvc/base/unfinished_files.h"
#include "server/process/state_folder.h"

namespace svc::server {

StateDirectory::StateDirectory(const std::filesystem::path& root) : root_(std::filesystem::absolute(root)) {
    // An instance's root, an ordinary user out here, passes through on its way to its files; it cannot list
    // anything.
    process::make_folder(root_, 0711);
    lock_ = process::lock_state(root_, "svcd");
    for (const auto& folder : {blobs(), logs(), registry(), root_ / "server"})
        process::make_folder(folder, 0700);
    for (const auto& folder : {root_, registry(), root_ / "server"}) remove_unfinished_files(folder);
    process::make_folder(agent_sockets(), 0711);
}

}  // namespace svc::server
