#include "instance-agent/agent/logging/log_file.h"

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc::agent {
namespace {

// Values are written as JSON strings, so that a line end in a value does not begin a second log line.
std::string line_of(log::Level level, std::string_view message, const log::Fields& fields) {
    std::string line = to_rfc3339(SystemClock().now()) + " " + std::string(log::to_text(level)) + " ";
    for (const char c : message) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    for (const auto& [name, value] : fields) line += " " + name + "=" + Json(value).dump();
    return line + "\n";
}

}  // namespace

LogFile::LogFile(std::filesystem::path path, std::uint64_t max_bytes) {
    try {
        file_.emplace(std::move(path), max_bytes);
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

// A full disk must not end the agent.
void LogFile::write(log::Level level, std::string_view message, const log::Fields& fields) try {
    const std::string line = line_of(level, message, fields);
    const std::lock_guard lock(mutex_);
    file_->append(line);
} catch (const std::exception&) {
    return;
}

}  // namespace svc::agent
