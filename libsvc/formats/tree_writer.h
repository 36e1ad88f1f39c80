#pragma once
// Creates files beneath one directory from names that may be hostile. Used by archive.cpp and
// package_unpack.cpp.
#include <sys/types.h>

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/base/file.h"

namespace svc {

struct FileAttributes {
    unsigned mode = 0;
    uid_t uid = 0;
    gid_t gid = 0;
    std::optional<timespec> modified;
    std::vector<std::pair<std::string, std::string>> extended;  // name, value; set without a change
};

// Paths are relative to the target, without ".", ".." or empty parts; "" is the target itself. The kernel
// resolves each path beneath the target and follows no link. A later file replaces an earlier one, but never
// a directory. Not thread-safe. Throws invalid_argument naming the path, or the error of the disk.
class TreeWriter {
  public:
    // `keep_owners` false: owners are not set. A directory that no entry describes belongs to `owner`.
    TreeWriter(const std::filesystem::path& target, bool keep_owners, uid_t owner);

    void make_directory(const std::string& path, FileAttributes attributes);
    FileDescriptor create_file(const std::string& path);  // for writing
    void finish_file(const std::string& path, int file, const FileAttributes& attributes);
    void make_symbolic_link(const std::string& path, const std::string& text,
                            const FileAttributes& attributes);
    void make_fifo(const std::string& path, const FileAttributes& attributes);
    void make_hard_link(const std::string& path, const std::string& source);
    // After the last entry: sets owners, modes and times of the directories, and syncs the file system.
    void finish();

  private:
    struct Place {
        int parent;  // owned by the TreeWriter: valid until the next call
        const char* name;
    };
    struct Directory {
        std::string path;
        FileAttributes attributes;
    };
    Place place_of(const std::string& path);
    FileDescriptor open_beneath(const std::string& path, int flags) const;
    FileDescriptor open_parent(const std::string& entry, const std::string& parent);
    bool make_one_directory(int parent, const char* name, const std::string& path);
    void remember(const std::string& path, FileAttributes attributes);
    void finish_directory(const Directory& directory);
    void set_extended(const std::string& path, int file, const FileAttributes& attributes);
    // Runs `create`; where a file has the name already, removes it and runs `create` again.
    template <class Create>
    int create_or_replace(const std::string& path, const Place& place, Create&& create);

    FileDescriptor target_;
    bool keep_owners_;
    FileAttributes undescribed_;
    std::string cached_path_;  // parent of the last entry: the next entry is mostly in the same directory
    FileDescriptor cached_;
    std::vector<Directory> directories_;  // in the order of the archive; the last description of one counts
    std::size_t remembered_bytes_ = 0;
};

}  // namespace svc
