#include "libsvc/base/disk_room.h"

#include <sys/statvfs.h>

#include <cerrno>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::uint64_t step_bytes = 1U << 20;
constexpr std::uint64_t step_files = 32;

}  // namespace

DiskRoom::DiskRoom(std::filesystem::path folder, const DiskFloor& floor, std::string work)
    : folder_(std::move(folder)), floor_(floor), work_(std::move(work)) {
    check();
}

void DiskRoom::take(std::uint64_t bytes) {
    bytes_ += bytes;
    unchecked_bytes_ += bytes;
    if (unchecked_bytes_ < step_bytes) return;
    unchecked_bytes_ = 0;
    check_for(bytes);
}

void DiskRoom::take_file() {
    ++files_;
    if (++unchecked_files_ < step_files) return;
    unchecked_files_ = 0;
    check();
}

void DiskRoom::check() const {
    check_for(0);
}

void DiskRoom::check_for(std::uint64_t bytes) const {
    if (floor_.bytes == 0 && floor_.files == 0) return;
    struct statvfs now {};
    if (::statvfs(folder_.c_str(), &now) != 0)
        throw system_error("cannot measure the free space of " + quoted(folder_.filename().native()), errno);
    const std::uint64_t free = std::uint64_t{now.f_bavail} * now.f_frsize;
    if (free < floor_.bytes || free - floor_.bytes < bytes) refuse("bytes", free, floor_.bytes, bytes_);
    if (now.f_files > 0 && now.f_favail < floor_.files) refuse("files", now.f_favail, floor_.files, files_);
}

void DiskRoom::refuse(const char* unit, std::uint64_t free, std::uint64_t kept, std::uint64_t taken) const {
    throw Error(ErrorCode::exhausted, "not enough space in " + quoted(folder_.filename().native()) + " to " +
                                          work_ + ": more than " + std::to_string(taken) + " " + unit +
                                          " needed, " + std::to_string(free) + " free, " +
                                          std::to_string(kept) + " kept in reserve");
}

}  // namespace svc
