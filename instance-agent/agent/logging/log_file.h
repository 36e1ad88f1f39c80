#pragma once
// The agent's own log file inside the instance.
#include <filesystem>
#include <mutex>
#include <optional>

#include "instance-agent/agent/files/bounded_file.h"
#include "libsvc/base/log.h"

namespace svc::agent {

// While it lives, every log line is also written to `path`, a BoundedFile. When the file cannot be written,
// the agent says so once on stderr and goes on without it. At most one LogFile at a time.
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
