#include "instance-agent/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc::agent {
namespace {

// Values as JSON strings: what they hold cannot begin a second line.
std::string line_of(log::Level level, std::string_view message, const log::Fields& fields) {
    std::string line = to_rfc3339(SystemClock().now()) + " " + std::string(log::to_text(level)) + " ";
    for (const char c : message) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    for (const auto& [name, value] : fields) line += " " + name + "=" + Json(value).dump();
    return line + "\n";
}

}  // namespace

LogFile::LogFile(std::filesystem::path path, std::uint64_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes) {
    try {
        make_directories(path_.parent_path(), 0755);
        open();
    } catch (const std::exception& e) {
        log::warning("no log file is kept", {{"reason", e.what()}});
        return;
    }
    log::set_listener([this](log::Level level, std::string_view message, const log::Fields& fields) {
        write(level, message, fields);
    });
}

LogFile::~LogFile() {
    log::set_listener({});
}

void LogFile::open() {
    file_ = open_file(path_, O_WRONLY | O_CREAT | O_APPEND, 0644);
    struct stat status {};
    size_ = ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void LogFile::write(log::Level level, std::string_view message, const log::Fields& fields) {
    const std::string line = line_of(level, message, fields);
    const std::lock_guard lock(mutex_);
    if (size_ > 0 && size_ + line.size() > max_bytes_) {
        std::filesystem::rename(path_, path_.string() + ".1");
        open();
    }
    write_all(file_.get(), line);
    size_ += line.size();
}

}  // namespace svc::agent
