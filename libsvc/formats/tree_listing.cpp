#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/tree_stream.h"

namespace svc {

namespace {

const char* type_of(mode_t mode) {
    if (S_ISREG(mode)) return "file";
    if (S_ISDIR(mode)) return "directory";
    return S_ISLNK(mode) ? "link" : "other";
}

TreeFile look_at(const std::filesystem::path& path, std::string relative) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            throw Error(ErrorCode::not_found, quoted(path.string()) + " is not there");
        throw system_error("cannot look at " + quoted(path.string()), errno);
    }
    TreeFile file;
    file.path = std::move(relative);
    file.type = type_of(info.st_mode);
    if (S_ISREG(info.st_mode)) file.size = static_cast<std::uint64_t>(info.st_size);
    file.mode = info.st_mode & 07777U;
    file.uid = info.st_uid;
    file.gid = info.st_gid;
    file.modified = info.st_mtime;
    if (S_ISLNK(info.st_mode)) file.target = std::filesystem::read_symlink(path).string();
    return file;
}

template <class Iterator>
void add_all(const std::filesystem::path& folder, std::vector<TreeFile>& files) {
    for (const auto& found : Iterator(folder)) try {
            files.push_back(look_at(found.path(), found.path().lexically_relative(folder).string()));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;  // it has gone meanwhile
        }
}

}  // namespace

Json TreeFile::to_json() const {
    return Json::object({{"path", path},
                         {"type", type},
                         {"size", size},
                         {"mode", mode},
                         {"uid", uid},
                         {"gid", gid},
                         {"modified", modified},
                         {"target", target}});
}

TreeFile TreeFile::from_json(const Json& value) {
    const JsonFields fields(value);
    TreeFile file;
    file.path = fields.require_string("path");
    file.type = fields.require_string("type");
    file.size = static_cast<std::uint64_t>(fields.require_int("size"));
    file.mode = static_cast<unsigned>(fields.require_int("mode"));
    file.uid = static_cast<std::uint32_t>(fields.require_int("uid"));
    file.gid = static_cast<std::uint32_t>(fields.require_int("gid"));
    file.modified = fields.require_int("modified");
    file.target = fields.string("target").value_or("");
    return file;
}

std::vector<TreeFile> list_tree(const std::filesystem::path& path, bool all) {
    std::vector<TreeFile> files{look_at(path, "")};
    if (files.front().type != "directory") return files;
    if (all)
        add_all<std::filesystem::recursive_directory_iterator>(path, files);
    else
        add_all<std::filesystem::directory_iterator>(path, files);
    std::ranges::sort(files, {}, &TreeFile::path);
    return files;
}

KnownFiles known_files(const std::vector<TreeFile>& files) {
    KnownFiles known;
    for (const TreeFile& file : files)
        if (file.type == "file") known[file.path] = {file.size, file.modified};
    return known;
}

}  // namespace svc
