#pragma once
// Files: owned descriptors, whole-file reads, durable writes, directories. All throw Error with the reason;
// messages name the file's last component only where they may reach a client.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace svc {

// Owns a file descriptor. Movable, closes once.
class FileDescriptor {
  public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
    ~FileDescriptor() { reset(); }
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    int release() noexcept;
    void reset() noexcept;

  private:
    int fd_ = -1;
};

// O_CLOEXEC is added. Throws not_found for ENOENT.
FileDescriptor open_file(const std::filesystem::path& path, int flags, unsigned mode = 0600);
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = 16U << 20);
void write_all(int fd, std::string_view data);
// Writes beside the target, syncs, renames, syncs the directory: the file is old or new, never half.
void write_file_atomically(const std::filesystem::path& path, std::string_view content, unsigned mode = 0600);
void sync_directory(const std::filesystem::path& path);
void make_directories(const std::filesystem::path& path, unsigned mode = 0700);
// Removes a tree without following links or crossing onto another mounted file system. Absent is fine.
void remove_tree(const std::filesystem::path& path);
std::uint64_t free_bytes(const std::filesystem::path& path);

// A directory that is removed with the object.
class TemporaryDirectory {
  public:
    explicit TemporaryDirectory(const std::filesystem::path& parent, std::string_view prefix = "tmp-");
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::filesystem::path& path() const noexcept { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace svc
