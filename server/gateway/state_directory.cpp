#include "server/gateway/state_directory.h"

#include "libsvc/base/unfinished_files.h"
#include "server/process/state_folder.h"

namespace svc::gateway {

StateDirectory::StateDirectory(const std::filesystem::path& root) : root_(std::filesystem::absolute(root)) {
    process::make_folder(root_, 0700);
    lock_ = process::lock_state(root_, "svc-gateway");
    process::make_folder(root_ / "tls", 0700);
    for (const auto& folder : {root_, root_ / "tls"}) remove_unfinished_files(folder);
}

}  // namespace svc::gateway
