#include "cli/actions/oci_source.h"

#include <unistd.h>

#include <filesystem>

#include "cli/actions/user_program.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/oci/package.h"

namespace svc::cli {
namespace {

std::string go_architecture(const std::string& architecture) {
    return architecture == "aarch64" ? "arm64" : "amd64";
}

// Its messages, and what it asks, are between skopeo and the user.
void run_skopeo(const std::string& from, const std::filesystem::path& to, const std::string& architecture) {
    const auto status =
        run_user_program({"skopeo", "--override-os", "linux", "--override-arch",
                          go_architecture(architecture), "copy", "--quiet", from, "oci:" + to.string()},
                         {{STDIN_FILENO, 0}, {STDERR_FILENO, 1}, {STDERR_FILENO, 2}});
    if (!status)
        throw Error(ErrorCode::unavailable,
                    "skopeo is not installed: it fetches images from registries and reads archives");
    if (*status != 0)
        throw Error(ErrorCode::unavailable,
                    "skopeo cannot copy " + quoted(from) + ": its exit status is " + std::to_string(*status));
}

// A file is an archive of a layout; everything else is a name that skopeo knows. skopeo takes what follows a
// colon in the name of an archive for a tag, so that the archive gets another name, in `folder`.
std::string name_for_skopeo(const std::string& source, const std::filesystem::path& folder) {
    if (std::filesystem::is_regular_file(source)) {
        const auto archive = folder / "archive";
        std::filesystem::create_symlink(std::filesystem::absolute(source), archive);
        return "oci-archive:" + archive.string();
    }
    if (source.find(':') != std::string::npos) return source;
    throw Error(ErrorCode::not_found,
                quoted(source) + " is no directory, no file, and no name like docker://host/name:tag");
}

}  // namespace

OciPackage::OciPackage(const OciSource& source, const PackageProgress& progress)
    : folder_(std::filesystem::temp_directory_path(), "svcctl-") {
    std::filesystem::path layout = source.name;
    if (!std::filesystem::is_directory(layout)) {
        layout = folder_.path() / "layout";
        run_skopeo(name_for_skopeo(source.name, folder_.path()), layout, source.architecture);
    }
    OciImage image = read_oci_layout(layout, source.architecture);
    if (!source.init.empty()) image.command.arguments = {"/bin/sh", "-c", source.init};
    const auto package = folder_.path() / "package.tar.gz";
    write_oci_package(image, package, [&progress] {
        if (progress) progress(PackagePhase::hashing, 0, 0);
    });
    package_.emplace(package, progress);
}

}  // namespace svc::cli
