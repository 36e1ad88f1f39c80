#pragma once
// Bytes that are needed once, and may be too many for the memory: a file without a name, never synced, which
// is gone when it is closed, also by a crash.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc {

// One thread at a time. Throws Error for what the disk refuses.
class ScratchFile {
  public:
    // In `folder`, on whose file system `reserve_bytes` stay free, less 8 MiB at most.
    ScratchFile(std::filesystem::path folder, std::uint64_t reserve_bytes);
    // Throws exhausted "not enough space for a temporary file after N bytes: M free, R kept in reserve".
    void write(std::string_view data);
    std::string read(std::size_t at_most);  // from the first byte on; "" at the end

  private:
    void check_reserve();

    std::filesystem::path folder_;
    std::uint64_t reserve_bytes_;
    FileDescriptor file_;
    std::uint64_t written_ = 0, checked_ = 0, read_ = 0;
};

}  // namespace svc
