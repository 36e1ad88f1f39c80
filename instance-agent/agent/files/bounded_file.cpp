#include "instance-agent/agent/files/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace svc::agent {

BoundedFile::BoundedFile(std::filesystem::path path, std::uint64_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes) {
    make_directories(path_.parent_path(), 0755);
    open();
}

void BoundedFile::open() {
    file_ = open_file(path_, O_WRONLY | O_CREAT | O_APPEND, 0644);
    struct stat status {};
    size_ = ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void BoundedFile::append(std::string_view text) {
    if (size_ > 0 && size_ + text.size() > max_bytes_) {
        std::filesystem::rename(path_, path_.string() + ".1");
        open();
    }
    write_all(file_.get(), text);
    size_ += text.size();
}

}  // namespace svc::agent
