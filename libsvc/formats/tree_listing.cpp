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
void add_all(const std::filesystem::path& folder, std::vector<TreeFile>& files) try {
    for (const auto& found : Iterator(folder)) try {
            files.push_back(look_at(found.path(), found.path().lexically_relative(folder).string()));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;  // it has gone meanwhile
        }
} catch (const std::filesystem::filesystem_error& e) {
    throw system_error("cannot list " + quoted(folder.string()), e.code().value());
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

std::string to_text(TreeDepth depth) {
    return depth == TreeDepth::itself ? "look" : depth == TreeDepth::list ? "list" : "list-all";
}

std::string tree_line(const TreeFile& file) {
    TreeFile told = file;
    told.path = percent_encode(file.path);
    told.target = percent_encode(file.target);
    return told.to_json().dump() + "\n";
}

std::string known_line(const TreeFile& file) {
    TreeFile known;
    known.path = file.path;
    known.type = file.type;
    known.size = file.size;
    known.modified = file.modified;
    return tree_line(known);
}

std::vector<TreeFile> tree_files(std::string_view lines) {
    std::vector<TreeFile> files;
    for (const std::string& line : split(lines, '\n')) {
        if (line.empty()) continue;
        const Json value = Json::parse(line);
        const JsonFields fields(value);
        TreeFile& file = files.emplace_back();
        file.path = percent_decode(fields.require_string("path"));
        file.type = fields.require_string("type");
        file.size = static_cast<std::uint64_t>(fields.require_int("size"));
        file.mode = static_cast<unsigned>(fields.require_int("mode"));
        file.uid = static_cast<std::uint32_t>(fields.require_int("uid"));
        file.gid = static_cast<std::uint32_t>(fields.require_int("gid"));
        file.modified = fields.require_int("modified");
        file.target = percent_decode(fields.require_string("target"));
    }
    return files;
}

std::vector<TreeFile> list_tree(const std::filesystem::path& path, TreeDepth depth) {
    std::vector<TreeFile> files{look_at(path, "")};
    if (files.front().type != "directory" || depth == TreeDepth::itself) return files;
    if (depth == TreeDepth::all)
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
