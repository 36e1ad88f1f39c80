#pragma once
// The folder of the guest's user that files of the client come into, and that the client fetches files from
// (docs/exchange.md). A guest may be hostile: no link is followed, neither to the folder nor below it.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/file.h"

namespace svc::streamer {

constexpr std::uint64_t max_file = std::uint64_t{2} << 30;  // bytes

// A file on its way into the folder: hidden, under a name of its own, until it is complete.
class Upload {
  public:
    Upload(FileDescriptor folder, std::string name);  // throws Error
    ~Upload();                                        // removes what is not complete
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    void write(std::string_view data);  // throws exhausted: no room on the disk
    // Takes its name, or where that is taken "name (1).ext" and so on; returns it.
    std::string finish();

  private:
    FileDescriptor folder_, file_;
    std::string name_, temporary_;
};

struct FolderFile {
    std::string name;
    std::uint64_t size = 0;
    std::int64_t time = 0;  // seconds since 1970
};

struct OpenFile {
    FileDescriptor file;
    std::uint64_t size = 0;
};

// Its calls block. One thread, which has become_owner() behind it.
class DownloadFolder {
  public:
    static constexpr std::size_t max_listed = 500, max_looked_at = 10'000;
    static constexpr std::size_t max_depth = 16, max_name = 200;  // bytes of a part of a path

    // The folder is made when it is first needed; what holds it must exist.
    explicit DownloadFolder(std::filesystem::path path) : path_(std::move(path)) {}

    // From now on the calling thread, if it is root's, uses files as the owner of what holds the folder: what
    // it makes is the owner's, and what the owner may not touch it does not touch. Throws Error.
    void become_owner() const;
    // `path`: "name" or "folder/name"; folders are made. Throws invalid_argument, Error.
    std::unique_ptr<Upload> begin(const std::string& path) const;
    std::vector<FolderFile> list() const;          // the newest files first, without hidden ones
    OpenFile open(const std::string& name) const;  // throws not_found, invalid_argument

  private:
    const FileDescriptor& place() const;
    FileDescriptor open_folder() const;

    std::filesystem::path path_;
    mutable FileDescriptor place_;  // what holds the folder, from its first use on
};

// "~/Downloads" of the user 1000, the guest's user; "": there is none.
std::filesystem::path default_download_folder();

// "a (2).txt" for "a.txt" and 2.
std::string numbered_name(const std::string& name, unsigned number);
// Parts of a path of a client: without control characters, `..`, and what is too long. Throws
// invalid_argument.
std::vector<std::string> path_parts(const std::string& path);

}  // namespace svc::streamer
