#include "instance-agent/streamer/files/download_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

constexpr uid_t guest_user = 1000;
constexpr mode_t folder_mode = 0755;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

struct Owner {
    uid_t user = 0;
    gid_t group = 0;
};

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};

// No link on the way: a guest could put one in the place of what root has opened before.
FileDescriptor open_place(const std::filesystem::path& path) {
    open_how how{};
    how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    FileDescriptor place(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
    if (!place) throw Error(ErrorCode::not_found, "the place for files of the client is not there");
    return place;
}

// Of what holds the folder: the folder itself can be replaced by its owner, also by a link to one of root's.
Owner owner_of(const FileDescriptor& place) {
    struct stat status {};
    if (fstat(place.get(), &status) != 0) throw system_error("look at the place for files", errno);
    return {status.st_uid, status.st_gid};
}

bool is_hidden(const std::string& name) {
    return name.starts_with('.');
}

// Names of a client are text; a guest may use any bytes.
bool is_text(const std::string& name) {
    const auto is_printable = [](unsigned char c) { return c >= 0x20 && c != 0x7f; };
    if (!std::all_of(name.begin(), name.end(), is_printable)) return false;
    try {
        Json::parse(Json::array({name}).dump());
        return true;
    } catch (const Error&) {
        return false;  // no UTF-8
    }
}

// Nothing: no regular file.
std::optional<FolderFile> regular_file(int folder, const std::string& name) {
    struct stat status {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return FolderFile{name, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec};
}

FileDescriptor folder_in(const FileDescriptor& folder, const std::string& name) {
    if (mkdirat(folder.get(), name.c_str(), folder_mode) != 0 && errno != EEXIST)
        throw system_error("make the folder " + quoted(name), errno);
    FileDescriptor inner(openat(folder.get(), name.c_str(), folder_flags | O_NOFOLLOW));
    if (!inner) throw Error(ErrorCode::conflict, quoted(name) + " is no folder in the instance");
    return inner;
}

std::string checked_part(std::string part) {
    std::erase_if(part, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (part.empty() || part == "." || part == "..")
        throw Error(ErrorCode::invalid_argument, "the file has no name that can be used");
    if (part.size() > DownloadFolder::max_name)
        throw Error(ErrorCode::invalid_argument, "the name " + quoted(part.substr(0, 40)) + " is too long");
    return part;
}

}  // namespace

std::filesystem::path default_download_folder() {
    const passwd* const user = getpwuid(guest_user);
    return user != nullptr ? std::filesystem::path(user->pw_dir) / "Downloads" : std::filesystem::path();
}

std::string numbered_name(const std::string& name, unsigned number) {
    const std::size_t dot = name.rfind('.');
    const std::size_t end = dot == std::string::npos || dot == 0 ? name.size() : dot;
    return name.substr(0, end) + " (" + std::to_string(number) + ")" + name.substr(end);
}

std::vector<std::string> path_parts(const std::string& path) {
    std::vector<std::string> parts;
    for (const std::string& part : split(path, '/')) parts.push_back(checked_part(part));
    if (parts.empty()) checked_part("");
    if (parts.size() > DownloadFolder::max_depth)
        throw Error(ErrorCode::invalid_argument, "the folders are nested too deeply");
    return parts;
}

// The ids for files belong to a thread; libc's setgroups() would change the whole process.
void DownloadFolder::become_owner() const {
    if (geteuid() != 0) return;
    const auto user_of_files = [] { return static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1))); };
    if (user_of_files() != 0) return;  // it has, and never goes back
    const Owner owner = owner_of(place());
    if (owner.user == 0) return;
    if (syscall(SYS_setgroups, 0, nullptr) != 0) throw system_error("setgroups", errno);
    setfsgid(owner.group);
    setfsuid(owner.user);
    if (user_of_files() != owner.user)
        throw Error(ErrorCode::forbidden, "files cannot be used as the guest's user");
}

const FileDescriptor& DownloadFolder::place() const {
    if (!place_) place_ = open_place(path_.parent_path());
    return place_;
}

FileDescriptor DownloadFolder::open_folder() const {
    const std::string name = path_.filename();
    if (mkdirat(place().get(), name.c_str(), folder_mode) != 0 && errno != EEXIST)
        throw system_error("make the folder for files of the client", errno);
    FileDescriptor folder(openat(place().get(), name.c_str(), folder_flags | O_NOFOLLOW));
    if (!folder) throw system_error("open the folder for files of the client", errno);
    return folder;
}

std::unique_ptr<Upload> DownloadFolder::begin(const std::string& path) const {
    const std::vector<std::string> parts = path_parts(path);
    FileDescriptor folder = open_folder();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) folder = folder_in(folder, parts[i]);
    return std::make_unique<Upload>(std::move(folder), parts.back());
}

std::vector<FolderFile> DownloadFolder::list() const {
    const FileDescriptor folder = open_folder();
    const std::unique_ptr<DIR, CloseDirectory> directory(fdopendir(dup(folder.get())));
    if (!directory) throw system_error("read the folder for files of the client", errno);
    std::vector<FolderFile> files;
    std::size_t looked_at = 0;
    for (const dirent* entry = nullptr;
         looked_at < max_looked_at && (entry = readdir(directory.get())) != nullptr; ++looked_at) {
        const std::string name = entry->d_name;
        if (is_hidden(name) || !is_text(name)) continue;
        if (auto file = regular_file(folder.get(), name)) files.push_back(std::move(*file));
    }
    std::sort(files.begin(), files.end(), [](const FolderFile& a, const FolderFile& b) {
        return a.time != b.time ? a.time > b.time : a.name < b.name;
    });
    if (files.size() > max_listed) files.resize(max_listed);
    return files;
}

// O_NONBLOCK: a pipe in the place of the file would wait for its writer.
OpenFile DownloadFolder::open(const std::string& name) const {
    if (path_parts(name).size() != 1 || is_hidden(name))
        throw Error(ErrorCode::invalid_argument, quoted(name) + " is no file of the folder");
    const FileDescriptor folder = open_folder();
    FileDescriptor file(openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        throw Error(ErrorCode::not_found, "file " + quoted(name) + " is not there");
    return {std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace svc::streamer
