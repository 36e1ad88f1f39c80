#pragma once
// Rows of a damaged database, read from its pages without its index: every page of a table is looked at,
// whether or not something still leads to it.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/file.h"

namespace svc::server::state {

// One thread. Understands the one table of the store: key, value, revision, WITHOUT ROWID.
class DatabasePages {
  public:
    // Reads the newest pages of the write-ahead log beside the file, too.
    explicit DatabasePages(const std::filesystem::path& file);
    using Take = std::function<void(std::string key, std::string value, std::uint64_t revision)>;
    void scan(const Take& take) const;  // a row may come more than once, also one that was removed long ago

  private:
    void read_log(const std::filesystem::path& log);
    std::string page(std::uint32_t number) const;  // "": there is none
    void scan_page(const std::string& bytes, std::size_t header, const Take& take) const;
    std::optional<std::string> payload(const std::string& page, std::size_t at) const;

    FileDescriptor file_;
    std::size_t page_size_ = 4096;
    std::uint32_t pages_ = 0;
    std::map<std::uint32_t, std::string> newer_;  // of the log
};

}  // namespace svc::server::state
