#pragma once
// A package from an archive or from a directory that is packed first.
#include <filesystem>
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/client/package.h"

namespace svc::cli {

// Packs a directory into a temporary file, which the destructor removes.
class PackageSource {
  public:
    PackageSource(const std::string& path, const PackageProgress& progress);
    const Package& package() const { return *package_; }

  private:
    std::optional<TemporaryDirectory> packed_;
    std::optional<Package> package_;
};

}  // namespace svc::cli
