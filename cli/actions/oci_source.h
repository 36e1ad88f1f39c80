#pragma once
// An image package made of an OCI image (docs/oci.md).
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/client/package.h"

namespace svc::cli {

struct OciSource {
    std::string name;  // a layout directory, an archive, or what skopeo fetches ("docker://host/name:tag")
    std::string architecture;  // of the cluster
    std::string init;          // a shell command that runs instead of the image's own; "": the image's
};

// Fetches, where that is needed with skopeo, and converts into a temporary file, which the destructor
// removes. Throws as read_oci_layout() and write_oci_package() do; unavailable where skopeo is missing or
// fails.
class OciPackage {
  public:
    OciPackage(const OciSource& source, const PackageProgress& progress);
    const Package& package() const { return *package_; }

  private:
    TemporaryDirectory folder_;
    std::optional<Package> package_;
};

}  // namespace svc::cli
