#pragma once
// Logs of failed instances, kept after their containers are gone: `<directory>/<instance id>/<name>`.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe as far as different instances are concerned.
class StoredLogs {
  public:
    StoredLogs(std::filesystem::path directory, std::uint64_t max_bytes);
    // Copies the tail of each, sources of one name after each other into one; answers the names of those that
    // could be read.
    std::vector<std::string> collect(const std::string& instance, const std::vector<LogFile>& sources) const;
    void remove(const std::string& instance) const;  // absent is fine
    std::filesystem::path path(const std::string& instance, std::string_view name) const;

  private:
    std::string read_tail(const LogFile& source) const;
    std::string joined(const std::string& earlier, const std::string& later) const;
    std::filesystem::path directory_;
    std::uint64_t max_bytes_;
};

}  // namespace svc
