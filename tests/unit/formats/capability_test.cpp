#include "libsvc/formats/capability.h"

#include <endian.h>
#include <linux/capability.h>

#include <catch2/catch.hpp>

using namespace svc;

namespace {

std::string capability(std::uint32_t revision, std::uint32_t root, std::size_t size) {
    vfs_ns_cap_data data{};
    data.magic_etc = htole32(revision | VFS_CAP_FLAGS_EFFECTIVE);
    data.data[0].permitted = htole32(1U << CAP_NET_RAW);
    data.rootid = htole32(root);
    return {reinterpret_cast<const char*>(&data), size};
}
std::string version2() {
    return capability(VFS_CAP_REVISION_2, 0, XATTR_CAPS_SZ_2);
}
std::string version3(std::uint32_t root) {
    return capability(VFS_CAP_REVISION_3, root, XATTR_CAPS_SZ_3);
}

}  // namespace

TEST_CASE("capabilities are shifted to a container's root and back") {
    CHECK(shift_capability(version2(), 100000) == version3(100000));
    CHECK(shift_capability(version3(5), 100000) == version3(100005));
    CHECK(unshift_capability(version3(100000), 100000, 65536) == version2());
    CHECK(unshift_capability(version3(100005), 100000, 65536) == version3(5));
}

TEST_CASE("capabilities that are malformed or of another root are none") {
    CHECK_FALSE(unshift_capability(version2(), 100000, 65536));
    CHECK_FALSE(unshift_capability(version3(99999), 100000, 65536));
    CHECK_FALSE(unshift_capability(version3(165536), 100000, 65536));
    CHECK_FALSE(shift_capability(version3(65536), 100000));
    for (const std::string& value : {std::string(), std::string("x"), version2() + "x",
                                     capability(VFS_CAP_REVISION_3, 0, XATTR_CAPS_SZ_2),
                                     capability(VFS_CAP_REVISION_2, 0, XATTR_CAPS_SZ_3)}) {
        CHECK_FALSE(shift_capability(value, 100000));
        CHECK_FALSE(unshift_capability(value, 0, 65536));
    }
}
