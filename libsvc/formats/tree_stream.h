#pragma once
// A file, or a folder with all that is in it, on its way between two machines that do not trust each other:
// a tar stream. Any thread; functions block while the stream does. docs/files.md.
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/json.h"

namespace svc {

// What one end tells of a file.
struct TreeFile {
    std::string path;  // relative to what was asked for, which is "" itself
    std::string type;  // "file", "directory", "link", "other"
    std::uint64_t size = 0;
    unsigned mode = 0;  // with setuid, setgid and sticky
    std::uint32_t uid = 0, gid = 0;
    std::int64_t modified = 0;  // seconds since 1970
    std::string target;         // of a link
    Json to_json() const;
};

enum class TreeDepth { itself, list, all };
std::string to_text(TreeDepth depth);  // "look", "list", "list-all"

// `path` itself, then what is in it, ordered by path: nothing, the first level, or all. Links are not
// followed. Throws not_found.
std::vector<TreeFile> list_tree(const std::filesystem::path& path, TreeDepth depth);

// Lines of JSON, as the two ends tell each other; names may have any bytes.
std::string tree_line(const TreeFile& file);
std::string known_line(const TreeFile& file);              // path, size and time alone
std::vector<TreeFile> tree_files(std::string_view lines);  // throws invalid_argument

// Files that the other end has: size and time by path. A file that is as there is not sent.
using KnownFiles = std::map<std::string, std::pair<std::uint64_t, std::int64_t>>;
KnownFiles known_files(const std::vector<TreeFile>& files);

// A source that is a link is followed; links in it are sent as links. Sockets, pipes and devices are left
// out. Throws not_found; invalid_argument where a file becomes shorter
// meanwhile; what `write` throws.
void send_tree(const std::filesystem::path& source, const KnownFiles& known,
               const std::function<void(std::string_view)>& write);

struct TreeOwner {
    uid_t uid = 0;
    gid_t gid = 0;
};
struct TakeOptions {
    std::optional<TreeOwner> owner;  // of all that is taken; nothing: this process's
    bool keep_special_bits = false;  // setuid, setgid, sticky
};

// Makes `target` what the stream holds; what is in a folder already and not in the stream stays. A single
// file takes its place in one step. No link in the stream or below the target is followed, nothing outside of
// the target is written. Throws invalid_argument where the stream is at fault: it is cut off, names something
// outside, holds devices, is a single link; conflict where a folder would take the place of a file, or a file
// that of a folder.
void take_tree(FileDescriptor stream, const std::filesystem::path& target, const TakeOptions& options);

}  // namespace svc
