#pragma once
// The file of the audit: a line of JSON for each entry (docs/trust.md).
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>

#include "libsvc/base/file.h"

namespace svc::server {

// Thread-safe. The file has the mode 0600. At `max_bytes` it becomes <file>.1, and what was <file>.1 before
// <file>.2, up to <file>.4. A line is in the file when write() returns: it survives the end of the process,
// but not a crash of the machine.
class AuditLog {
  public:
    explicit AuditLog(std::filesystem::path file, std::uint64_t max_bytes = std::uint64_t{16} << 20U);
    // Never throws: an entry that cannot be written is lost, which the log tells once, until one can be
    // written again.
    void write(const std::string& line) noexcept;

  private:
    void append(const std::string& line);
    void open();
    void rotate();
    std::filesystem::path numbered(int number) const;

    const std::filesystem::path file_;
    const std::uint64_t max_bytes_;
    std::mutex mutex_;
    FileDescriptor opened_;
    std::uint64_t bytes_ = 0;
    bool failing_ = false;
};

}  // namespace svc::server
