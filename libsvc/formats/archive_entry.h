#pragma once
// One entry of an archive as plain values, for the reader and the writer.
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace svc {

enum class EntryKind { file, directory, symbolic_link, hard_link, fifo, other };

struct ArchiveEntry {
    std::string path;  // as written in the archive
    EntryKind kind = EntryKind::other;
    std::string link_target;  // of symbolic and hard links
    std::uint64_t size = 0;   // bytes of a file
    unsigned mode = 0;        // permission bits with setuid, setgid and sticky
    std::int64_t uid = 0;
    std::int64_t gid = 0;
    std::optional<timespec> modified;
    std::vector<std::pair<std::string, std::string>> attributes;  // extended attributes: name, value
};

}  // namespace svc
