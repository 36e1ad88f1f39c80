#include "libsvc/client/package.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc {
namespace {

constexpr std::size_t block_bytes = 1U << 20;

std::string read_block(int fd, std::size_t at_most) {
    std::string block(at_most, '\0');
    ssize_t got = -1;
    do got = ::read(fd, block.data(), block.size());
    while (got < 0 && errno == EINTR);
    if (got < 0) throw system_error("cannot read package", errno);
    block.resize(static_cast<std::size_t>(got));
    return block;
}

FileDescriptor open_package(const std::filesystem::path& path) {
    return with_context("package " + quoted(path.string()), [&] { return open_file(path, O_RDONLY); });
}

}  // namespace

Package::Package(std::filesystem::path path, PackageProgress progress)
    : path_(std::move(path)), progress_(std::move(progress)) {
    const FileDescriptor file = open_package(path_);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw system_error("package " + quoted(path_.string()), errno);
    if (!S_ISREG(status.st_mode))
        throw Error(ErrorCode::invalid_argument,
                    "package " + quoted(path_.string()) + " is not a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
    Sha256 digest;
    std::uint64_t done = 0;
    for (std::string block; !(block = read_block(file.get(), block_bytes)).empty();) {
        digest.update(block);
        done += block.size();
        if (progress_) progress_(PackagePhase::hashing, done, size_);
    }
    size_ = done;
    fingerprint_ = digest.hex();
}

std::function<std::string(std::size_t)> Package::source() const {
    // std::function must be copyable; the state is shared by its copies.
    struct State {
        FileDescriptor file;
        std::uint64_t done = 0;
    };
    auto state = std::make_shared<State>(State{open_package(path_), 0});
    return [state, size = size_, progress = progress_](std::size_t at_most) {
        std::string block =
            read_block(state->file.get(), std::min<std::uint64_t>(at_most, size - state->done));
        state->done += block.size();
        if (progress) progress(PackagePhase::sending, state->done, size);
        return block;
    };
}

}  // namespace svc
