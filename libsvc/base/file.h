#pragma once
// Files: owned descriptors, reads of whole files, durable writes, directories. All functions may be called
// from any thread and throw Error with the reason; a message names the last component of the path only, as it
// may reach a client.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace svc {

// Owns a file descriptor and closes it. -1: none. Not thread-safe.
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

// Adds O_CLOEXEC to `flags`. Throws not_found for ENOENT.
FileDescriptor open_file(const std::filesystem::path& path, int flags, unsigned mode = 0600);
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes = 16U << 20);
void write_all(int fd, std::string_view data);
// Writes a temporary file beside the target, syncs it, renames it, and syncs the directory: after a crash the
// file has its old or its new content.
void write_file_atomically(const std::filesystem::path& path, std::string_view content, unsigned mode = 0600);
void sync_directory(const std::filesystem::path& path);
void make_directories(const std::filesystem::path& path, unsigned mode = 0700);
// Removes a tree without following links or crossing onto another mounted file system. Does nothing when the
// tree does not exist.
void remove_tree(const std::filesystem::path& path);
std::uint64_t free_bytes(const std::filesystem::path& path);

// A directory with a new name below `parent`; the destructor removes it with all it holds.
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
