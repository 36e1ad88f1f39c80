#include "libsvc/blobs/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::uint64_t reserve_check_bytes = std::uint64_t{8} << 20;

// Not O_TMPFILE, which network file systems do not know.
FileDescriptor nameless_file(const std::filesystem::path& folder) {
    const auto path = folder / to_hex(random_bytes(16));
    FileDescriptor file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
    if (::unlink(path.c_str()) != 0) throw system_error("cannot make a temporary file", errno);
    return file;
}

}  // namespace

ScratchFile::ScratchFile(std::filesystem::path folder, std::uint64_t reserve_bytes)
    : folder_(std::move(folder)), reserve_bytes_(reserve_bytes), file_(nameless_file(folder_)) {}

// Also before the first byte: a disk that is at its reserve takes none.
void ScratchFile::write(std::string_view data) {
    if (written_ == 0 || written_ - checked_ >= reserve_check_bytes) check_reserve();
    with_context("cannot write a temporary file", [&] { write_all(file_.get(), data); });
    written_ += data.size();
}

void ScratchFile::check_reserve() {
    checked_ = written_;
    if (const auto free = free_bytes(folder_); free < reserve_bytes_)
        throw Error(ErrorCode::exhausted, "not enough space for a temporary file after " +
                                              std::to_string(written_) + " bytes: " + std::to_string(free) +
                                              " free, " + std::to_string(reserve_bytes_) +
                                              " kept in reserve");
}

std::string ScratchFile::read(std::size_t at_most) {
    std::string piece(at_most, 0);
    const ssize_t count = ::pread(file_.get(), piece.data(), piece.size(), static_cast<off_t>(read_));
    if (count < 0) throw system_error("cannot read a temporary file", errno);
    piece.resize(static_cast<std::size_t>(count));
    read_ += piece.size();
    return piece;
}

}  // namespace svc
