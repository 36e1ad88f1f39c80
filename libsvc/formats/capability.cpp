#include "libsvc/formats/capability.h"

#include <endian.h>
#include <linux/capability.h>

#include <cstring>

namespace svc {

namespace {

constexpr std::uint32_t capability_max_id = 65535;

// The user that the value names as root; 0 where it names none.
std::optional<vfs_ns_cap_data> parse(const std::string& value) {
    vfs_ns_cap_data data{};
    if (value.size() != XATTR_CAPS_SZ_2 && value.size() != XATTR_CAPS_SZ_3) return std::nullopt;
    std::memcpy(&data, value.data(), value.size());
    const std::uint32_t revision = le32toh(data.magic_etc) & VFS_CAP_REVISION_MASK;
    const bool version2 = revision == VFS_CAP_REVISION_2 && value.size() == XATTR_CAPS_SZ_2;
    const bool version3 = revision == VFS_CAP_REVISION_3 && value.size() == XATTR_CAPS_SZ_3;
    return version2 || version3 ? std::optional(data) : std::nullopt;
}

std::string render(vfs_ns_cap_data data, std::uint32_t revision, std::uint32_t root) {
    data.magic_etc = htole32((le32toh(data.magic_etc) & ~VFS_CAP_REVISION_MASK) | revision);
    data.rootid = htole32(root);
    return {reinterpret_cast<const char*>(&data),
            static_cast<std::size_t>(revision == VFS_CAP_REVISION_2 ? XATTR_CAPS_SZ_2 : XATTR_CAPS_SZ_3)};
}

}  // namespace

std::optional<std::string> shift_capability(const std::string& value, std::uint32_t id_shift) {
    const auto data = parse(value);
    if (!data || le32toh(data->rootid) > capability_max_id) return std::nullopt;
    return render(*data, VFS_CAP_REVISION_3, le32toh(data->rootid) + id_shift);
}

std::optional<std::string> unshift_capability(const std::string& value, std::uint32_t id_shift,
                                              std::uint32_t id_count) {
    const auto data = parse(value);
    if (!data) return std::nullopt;
    const std::uint32_t root = le32toh(data->rootid);
    if (root < id_shift || root - id_shift >= id_count) return std::nullopt;
    return render(*data, root == id_shift ? VFS_CAP_REVISION_2 : VFS_CAP_REVISION_3, root - id_shift);
}

}  // namespace svc
