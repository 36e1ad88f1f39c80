#pragma once
// Makes an image package of an OCI image (docs/oci.md).
#include <filesystem>
#include <functional>

#include "libsvc/formats/archive_limits.h"
#include "libsvc/formats/oci/layout.h"

namespace svc {

// Writes `target`, a gzip tarball of metadata.yaml and rootfs/, with what the layers make together: a file of
// a higher layer replaces that of a lower one, whiteouts are applied, and links whose file another layer has
// replaced keep the content that they had. Device nodes are left out. `entry` is called for each entry and
// may throw to cancel. Throws invalid_argument where a layer is malformed, the layers together are beyond the
// limits, or the image has no command; internal for an error of the disk. Any thread; blocks; keeps the names
// of all files in memory.
void write_oci_package(const OciImage& image, const std::filesystem::path& target,
                       const std::function<void()>& entry = {}, const ArchiveLimits& limits = {});

}  // namespace svc
