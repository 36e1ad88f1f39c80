#pragma once
// A log file that cannot fill the disk.
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc::agent {

// At `max_bytes` the file is renamed to `path`.1, in place of an older one, and a new one begins. One thread
// at a time.
class BoundedFile {
  public:
    // Makes the folder and opens the file. Throws Error.
    BoundedFile(std::filesystem::path path, std::uint64_t max_bytes);
    void append(std::string_view text);  // throws Error, for example when the disk is full

  private:
    void open();

    std::filesystem::path path_;
    std::uint64_t max_bytes_;
    FileDescriptor file_;
    std::uint64_t size_ = 0;
};

}  // namespace svc::agent
