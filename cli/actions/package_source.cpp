#include "cli/actions/package_source.h"

#include "libsvc/formats/pack.h"

namespace svc::cli {

PackageSource::PackageSource(const std::string& path, const PackageProgress& progress) {
    std::filesystem::path file = path;
    if (std::filesystem::is_directory(file)) {
        packed_.emplace(std::filesystem::temp_directory_path(), "svcctl-");
        const auto package = packed_->path() / "package.tar.bz2";
        pack_directory(file, package, [&progress] {
            if (progress) progress(PackagePhase::hashing, 0, 0);
        });
        file = package;
    }
    package_.emplace(file, progress);
}

}  // namespace svc::cli
