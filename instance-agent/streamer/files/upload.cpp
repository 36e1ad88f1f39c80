#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "instance-agent/streamer/files/download_folder.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

constexpr mode_t file_mode = 0644;
constexpr unsigned most_numbers = 1000;

std::string hidden_name() {
    return ".svc-upload-" + sha256_hex(random_bytes(16)).substr(0, 16);
}

Error write_error(const std::string& name, int number) {
    const bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
    return full ? Error(ErrorCode::exhausted, "no room for " + quoted(name) + " in the instance")
                : system_error("write " + quoted(name), number);
}

}  // namespace

Upload::Upload(FileDescriptor folder, std::string name)
    : folder_(std::move(folder)), name_(std::move(name)), temporary_(hidden_name()) {
    file_ = FileDescriptor(openat(folder_.get(), temporary_.c_str(),
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode));
    if (!file_) throw write_error(name_, errno);
}

Upload::~Upload() {
    if (!temporary_.empty()) unlinkat(folder_.get(), temporary_.c_str(), 0);
}

void Upload::write(std::string_view data) {
    while (!data.empty()) {
        const ssize_t count = ::write(file_.get(), data.data(), data.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw write_error(name_, errno);
        data.remove_prefix(static_cast<std::size_t>(count));
    }
}

// Renaming without replacing is one step: whoever makes a file of that name at the same moment keeps it.
std::string Upload::finish() {
    for (unsigned number = 0; number < most_numbers; ++number) {
        const std::string name = number == 0 ? name_ : numbered_name(name_, number);
        if (renameat2(folder_.get(), temporary_.c_str(), folder_.get(), name.c_str(), RENAME_NOREPLACE) ==
            0) {
            temporary_.clear();
            return name;
        }
        if (errno != EEXIST) throw write_error(name_, errno);
    }
    throw Error(ErrorCode::conflict, "there are too many files with the name " + quoted(name_));
}

}  // namespace svc::streamer
