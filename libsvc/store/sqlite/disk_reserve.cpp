#include "libsvc/store/sqlite/disk_reserve.h"

#include <fcntl.h>

#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::uint64_t room_factor = 8;  // taken when this many times its size is free
constexpr std::chrono::seconds pause{10};

}  // namespace

DiskReserve::DiskReserve(std::filesystem::path file, std::uint64_t bytes)
    : file_(std::move(file)), bytes_(bytes) {
    std::error_code failure;
    held_ = std::filesystem::file_size(file_, failure) >= bytes_ && !failure;
    if (!has_room())
        release();
    else if (!held_)
        take();
}

bool DiskReserve::has_room() const {
    try {
        return free_bytes(file_.parent_path()) >= (held_ ? bytes_ : bytes_ * room_factor);
    } catch (const std::exception&) {
        return false;
    }
}

void DiskReserve::take() {
    try {
        const FileDescriptor reserve = open_file(file_, O_RDWR | O_CREAT);
        held_ = ::posix_fallocate(reserve.get(), 0, static_cast<off_t>(bytes_)) == 0;
        failpoint("store.reserve_taken");
    } catch (const std::exception& e) {
        log::debug("no disk space can be reserved", {{"error", e.what()}});
    }
    if (!held_) release();
}

bool DiskReserve::release() {
    std::error_code ignored;
    const bool removed = std::filesystem::remove(file_, ignored);
    if (removed && held_)
        log::warning("disk is full: reserved space is given up", {{"bytes", std::to_string(bytes_)}});
    held_ = false;
    return removed;
}

void DiskReserve::restore() {
    const auto now = std::chrono::steady_clock::now();
    if (held_ || now - looked_ < pause) return;
    looked_ = now;
    if (has_room()) take();
}

}  // namespace svc
