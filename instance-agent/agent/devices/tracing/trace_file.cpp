#include "instance-agent/agent/devices/tracing/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::agent {
namespace {

[[noreturn]] void fail(int error) {
    throw Error(ErrorCode::internal, std::string("Failed to write trace: ") + std::strerror(error));
}

void make_directory(const std::filesystem::path& directory) {
    std::error_code error;
    std::filesystem::create_directories(directory.parent_path(), error);
    if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) fail(errno);
}

void write_piece(int fd, std::string_view piece) {
    while (!piece.empty()) {
        const ssize_t count = ::write(fd, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) fail(count < 0 ? errno : EIO);
        piece.remove_prefix(static_cast<std::size_t>(count));
    }
}

// An earlier process may have had the same pid.
std::filesystem::path create_file(const std::filesystem::path& directory, FileDescriptor& fd) {
    const std::string stem = "svc-agent_" + std::to_string(::getpid()) + ".";
    for (unsigned n = 0;; ++n) {
        std::filesystem::path file = directory / (stem + std::to_string(n));
        fd = FileDescriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
        if (fd) return file;
        if (errno != EEXIST) fail(errno);
    }
}

}  // namespace

std::filesystem::path write_trace_file(const std::filesystem::path& directory,
                                       const std::vector<std::string_view>& pieces) {
    make_directory(directory);
    FileDescriptor fd;
    std::filesystem::path file = create_file(directory, fd);
    try {
        for (const std::string_view piece : pieces) write_piece(fd.get(), piece);
        ::fchmod(fd.get(), 0644);
        if (::fsync(fd.get()) != 0) fail(errno);
    } catch (const Error&) {
        ::unlink(file.c_str());
        throw;
    }
    return file;
}

}  // namespace svc::agent
