#pragma once
// A log file that cannot fill the disk.
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc::agent {

// Grows up to `max_bytes`, then starts anew; the old one is kept as `path`.1. One thread at a time.
class BoundedFile {
  public:
    // Makes the directory and opens the file. Throws.
    BoundedFile(std::filesystem::path path, std::uint64_t max_bytes);
    void append(std::string_view text);  // throws when the disk is full

  private:
    void open();

    std::filesystem::path path_;
    std::uint64_t max_bytes_;
    FileDescriptor file_;
    std::uint64_t size_ = 0;
};

}  // namespace svc::agent
