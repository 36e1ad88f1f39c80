#pragma once
// The agent's own log inside the instance, for whoever looks into it there.
#include <filesystem>
#include <mutex>
#include <optional>

#include "instance-agent/agent/processes/bounded_file.h"
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
    void write(log::Level level, std::string_view message, const log::Fields& fields);

    std::mutex mutex_;
    std::optional<BoundedFile> file_;
};

}  // namespace svc::agent
