#pragma once
// The agent's own log inside the instance, for whoever looks into it there.
#include <filesystem>
#include <mutex>

#include "libsvc/base/file.h"
#include "libsvc/base/log.h"

namespace svc::agent {

// While alive, copies every log line into `path`; above `max_bytes` the file starts anew and the old one is
// kept as `path`.1. A log that cannot be written is told once on stderr and done without. One at a time.
class LogFile {
  public:
    explicit LogFile(std::filesystem::path path, std::uint64_t max_bytes = 1U << 20);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

  private:
    void open();
    void write(log::Level level, std::string_view message, const log::Fields& fields);

    const std::filesystem::path path_;
    const std::uint64_t max_bytes_;
    std::mutex mutex_;
    FileDescriptor file_;
    std::uint64_t size_ = 0;
};

}  // namespace svc::agent
