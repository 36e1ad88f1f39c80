#pragma once
// Logs of failed instances, kept after their containers are gone: blobs, which the instances' records name.
// With several managers two of them have each, and every one can read it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/content.h"

namespace svc {

// Thread-safe.
class StoredLogs {
  public:
    // `former`: where earlier versions kept them, as `<instance id>/<name>`.
    StoredLogs(Content& content, std::filesystem::path former, std::uint64_t max_bytes);
    // Keeps the tail of each, sources of one name after each other as one. What cannot be kept is left out,
    // with a line in the log. They are held until drop(): a record is to name them.
    std::vector<StoredLog> collect(const std::string& instance, const std::vector<LogFile>& sources) const;
    void hold(const std::vector<StoredLog>& logs) const;  // what a record of an earlier process names
    // When no record names them any more. What cannot be removed now goes with the garbage.
    void drop(const std::string& instance, const std::vector<StoredLog>& logs) const;
    void drop_former(const std::string& instance) const;
    // A readable file. Throws not_found, unavailable when the manager that has it cannot be asked.
    std::filesystem::path path(const std::string& instance, const StoredLog& log) const;

  private:
    std::optional<std::string> text_of(const std::string& instance, const std::string& name,
                                       const std::vector<LogFile>& sources) const;
    std::string keep(const std::string& text) const;
    std::string read_tail(const LogFile& source) const;
    std::string joined(const std::string& earlier, const std::string& later) const;
    Content& content_;
    std::filesystem::path former_;
    std::uint64_t max_bytes_;
};

}  // namespace svc
