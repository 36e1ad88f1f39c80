#include "server/audit/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::server {

namespace {

constexpr int kept_files = 4;

}  // namespace

AuditLog::AuditLog(std::filesystem::path file, std::uint64_t max_bytes)
    : file_(std::move(file)), max_bytes_(max_bytes) {}

void AuditLog::write(const std::string& line) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        append(line);
        if (std::exchange(failing_, false)) log::info("the audit is written again");
    } catch (const std::exception& e) {
        opened_.reset();
        if (!std::exchange(failing_, true))
            log::error("entries of the audit are lost: it cannot be written", {{"error", e.what()}});
    }
}

void AuditLog::append(const std::string& line) {
    if (!opened_) open();
    if (bytes_ > 0 && bytes_ + line.size() + 1 > max_bytes_) rotate();
    bytes_ += line.size() + 1;
    write_all(opened_.get(), line + "\n");
}

// A line that a full disk has cut, or the end of an earlier process, is ended first: each line stays one.
void AuditLog::open() {
    opened_ = open_file(file_, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW);
    struct stat status {};
    if (::fstat(opened_.get(), &status) != 0) throw system_error("cannot look at the audit", errno);
    bytes_ = static_cast<std::uint64_t>(status.st_size);
    char last = '\n';
    if (bytes_ > 0 && ::pread(opened_.get(), &last, 1, status.st_size - 1) == 1 && last != '\n')
        write_all(opened_.get(), "\n");
}

std::filesystem::path AuditLog::numbered(int number) const {
    return file_.string() + "." + std::to_string(number);
}

// A file that is not there is none that could be lost.
void AuditLog::rotate() {
    opened_.reset();
    for (int number = kept_files; number >= 1; --number) {
        const std::filesystem::path from = number == 1 ? file_ : numbered(number - 1);
        std::error_code error;
        std::filesystem::rename(from, numbered(number), error);
        if (error && error != std::errc::no_such_file_or_directory)
            throw Error(ErrorCode::internal,
                        "cannot rename " + from.filename().string() + ": " + error.message());
    }
    open();
}

}  // namespace svc::server
