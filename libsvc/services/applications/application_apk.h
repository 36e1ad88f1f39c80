#pragma once
// What app.apk of an application package says, and what of it goes into the manifest (specification: Manifest
// of an application; docs/applications.md, "What an APK says").
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/disk_room.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/formats/apk.h"
#include "libsvc/formats/package.h"
#include "libsvc/model/packages/manifest.h"

namespace svc {

// A copy of app.apk that has no name, made while its package is read. A copy that cannot be made ends without
// an error, which read() tells. Not thread-safe.
class ApkCopy {
  public:
    // `folder` has the room for it.
    explicit ApkCopy(const std::filesystem::path& folder);
    void take(const PackageEntry& file, std::uint64_t offset, std::string_view bytes);
    // Throws what made the copy fail, and what ApkReader::read() throws.
    ApkFacts read(const ApkReader& reader) const;

  private:
    void write(std::uint64_t offset, std::string_view bytes);

    const std::filesystem::path folder_;
    std::optional<DiskRoom> room_;
    FileDescriptor file_;
    std::exception_ptr failure_;
};

// The manifest with the package and the activity of the APK where it names none. Throws invalid_argument
// where the two say what cannot work together.
ApplicationManifest completed_manifest(const ApplicationManifest& manifest, const ApkFacts& apk);

}  // namespace svc
