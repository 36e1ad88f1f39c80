#pragma once
// Creates files beneath one directory, from names nobody vouches for. Used by archive.cpp.
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
    std::vector<std::pair<std::string, std::string>> extended;  // name, value: set as they are
};

// Paths are relative to the target, without ".", ".." or empty parts; "" is the target itself. The kernel
// resolves each beneath the target and through no link. A later file replaces an earlier one, never a
// directory. One thread.
class TreeWriter {
  public:
    // `keep_owners`: whether owners are set at all. Directories nobody described belong to `owner`.
    TreeWriter(const std::filesystem::path& target, bool keep_owners, uid_t owner);

    void make_directory(const std::string& path, FileAttributes attributes);
    FileDescriptor create_file(const std::string& path);  // for writing
    void finish_file(const std::string& path, int file, const FileAttributes& attributes);
    void make_symbolic_link(const std::string& path, const std::string& text,
                            const FileAttributes& attributes);
    void make_fifo(const std::string& path, const FileAttributes& attributes);
    void make_hard_link(const std::string& path, const std::string& source);
    // Sets what was put off until nothing is created in the directories any more, and syncs.
    void finish();

  private:
    struct Place {
        int parent;  // of this object: valid until the next call
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
    // Runs `create`; where something is in the way already, removes that and runs it again.
    template <class Create>
    int create_or_replace(const std::string& path, const Place& place, Create&& create);

    FileDescriptor target_;
    bool keep_owners_;
    FileAttributes undescribed_;
    std::string cached_path_;  // the parent of the last entry: archives list a directory's files in a row
    FileDescriptor cached_;
    std::vector<Directory> directories_;  // in the order they were described: the last word counts
    std::size_t remembered_bytes_ = 0;
};

}  // namespace svc
