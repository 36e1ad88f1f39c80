#pragma once
// A package as the user names it: an archive, or the directory it is to be made of.
#include <filesystem>
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/client/package.h"

namespace svc::cli {

// Packs a directory into a temporary file, which goes with this object.
class PackageSource {
  public:
    PackageSource(const std::string& path, const PackageProgress& progress);
    const Package& package() const { return *package_; }

  private:
    std::optional<TemporaryDirectory> packed_;
    std::optional<Package> package_;
};

}  // namespace svc::cli
