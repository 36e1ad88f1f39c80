#include "libsvc/runtime/lxc/disk/file_entry.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/capability.h"

namespace svc::lxc {

namespace {

constexpr std::uint32_t nobody = 65534;             // who owns what an id outside of the range owns
constexpr std::size_t max_attribute_bytes = 65536;  // the kernel's limit of a value and of all names

EntryKind kind_of(const struct stat& info) {
    switch (info.st_mode & S_IFMT) {
        case S_IFREG:
            return EntryKind::file;
        case S_IFDIR:
            return EntryKind::directory;
        case S_IFLNK:
            return EntryKind::symbolic_link;
        case S_IFIFO:
            return EntryKind::fifo;
        default:
            return EntryKind::other;
    }
}

std::int64_t id_inside(std::uint32_t id, GuestIds ids) {
    return id >= ids.base && id - ids.base < ids.count ? id - ids.base : nobody;
}

std::vector<std::string> attribute_names(int file) {
    std::string names(max_attribute_bytes, '\0');
    const ssize_t size = ::flistxattr(file, names.data(), names.size());
    if (size <= 0) return {};
    names.resize(static_cast<std::size_t>(size) - 1);  // each ends with a zero byte
    std::vector<std::string> sorted = split(names, '\0');
    std::sort(sorted.begin(), sorted.end());
    return sorted;
}

std::string attribute(int file, const std::string& name, const std::string& path) {
    std::string value(max_attribute_bytes, '\0');
    const ssize_t size = ::fgetxattr(file, name.c_str(), value.data(), value.size());
    if (size < 0) throw system_error("cannot read an attribute of " + quoted(path), errno);
    value.resize(static_cast<std::size_t>(size));
    return value;
}

}  // namespace

ArchiveEntry file_entry(const std::string& path, const struct stat& info, GuestIds ids) {
    ArchiveEntry entry;
    entry.path = path;
    entry.kind = kind_of(info);
    entry.mode = info.st_mode & 07777U;
    entry.uid = id_inside(info.st_uid, ids);
    entry.gid = id_inside(info.st_gid, ids);
    entry.modified = info.st_mtim;
    if (entry.kind == EntryKind::file) entry.size = static_cast<std::uint64_t>(info.st_size);
    return entry;
}

void add_attributes(ArchiveEntry& entry, int file, GuestIds ids, bool (*is_wanted)(std::string_view name)) {
    for (const std::string& name : attribute_names(file)) {
        if (!is_wanted(name)) continue;
        std::string value = attribute(file, name, entry.path);
        if (name == "security.capability") {
            auto inside = unshift_capability(value, ids.base, ids.count);
            if (!inside) continue;
            value = *std::move(inside);
        }
        entry.attributes.emplace_back(name, std::move(value));
    }
}

}  // namespace svc::lxc
