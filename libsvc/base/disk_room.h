#pragma once
// Room that work in bulk leaves on a file system which holds the store, too: without it, one archive or copy
// could keep every record from being written.
#include <cstdint>
#include <filesystem>
#include <string>

namespace svc {

// What stays free, besides what is held in reserve for records.
struct DiskFloor {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;  // inodes, where the file system counts them
};

// One piece of work. Not thread-safe. Takings of several at once do not add up to much: each looks again
// after a megabyte or some files.
class DiskRoom {
  public:
    // `work` and `folder`, of which the last component is named, are for messages: "to unpack an archive".
    DiskRoom(std::filesystem::path folder, const DiskFloor& floor, std::string work);

    // Before they are written. Throws exhausted "not enough space in 'layers' to unpack an archive: ...".
    void take(std::uint64_t bytes);
    void take_file();
    void check() const;  // now
    std::uint64_t taken() const noexcept { return bytes_; }

  private:
    void check_for(std::uint64_t bytes) const;
    [[noreturn]] void refuse(const char* unit, std::uint64_t free, std::uint64_t kept,
                             std::uint64_t taken) const;

    std::filesystem::path folder_;
    DiskFloor floor_;
    std::string work_;
    std::uint64_t bytes_ = 0, files_ = 0;
    std::uint64_t unchecked_bytes_ = 0, unchecked_files_ = 0;
};

}  // namespace svc
