#pragma once
// Where a picture or a recording of an instance is written.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "cli/terminal/console.h"
#include "libsvc/base/file.h"

namespace svc::cli {

// A file that appears when it is kept, or standard output. One thread.
class CaptureFile {
  public:
    // `path` "": standard output, which throws UsageError where that is a terminal. Throws invalid_argument
    // for a path that is there and no regular file.
    CaptureFile(const Console& console, std::string path);
    void write(std::string_view bytes);
    // The first `bytes` of what was written become the file, in the place of an older one, and its name is
    // printed. Without this call nothing stays of it.
    void keep(std::uint64_t bytes);
    std::uint64_t written() const { return written_; }

  private:
    const Console& console_;
    const std::filesystem::path path_;
    std::unique_ptr<TemporaryDirectory> scratch_;  // null: standard output
    FileDescriptor file_;
    std::uint64_t written_ = 0;
};

}  // namespace svc::cli
