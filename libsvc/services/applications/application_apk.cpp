#include "libsvc/services/applications/application_apk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"

namespace svc {

namespace {

constexpr std::string_view apk_name = "app.apk";
constexpr DiskFloor apk_floor{std::uint64_t{64} << 20, 0};

// The parser's user may read it through its descriptor alone.
FileDescriptor nameless_file(const std::filesystem::path& folder) {
    std::string path = folder / ".apk-XXXXXX";
    FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file) throw system_error("cannot copy app.apk", errno);
    if (::unlink(path.c_str()) != 0 || ::fchmod(file.get(), 0444) != 0)
        throw system_error("cannot copy app.apk", errno);
    return file;
}

bool has_native_code(const ApkFacts& apk, const std::string& abi) {
    const auto has = [&](std::string_view name) {
        return std::ranges::find(apk.abis, name) != apk.abis.end();
    };
    return apk.abis.empty() || has(abi) || (abi == "armeabi-v7a" && has("armeabi"));
}

void check_agrees(const ApplicationManifest& manifest, const ApkFacts& apk) {
    if (!manifest.boot_package.empty() && manifest.boot_package != apk.package)
        throw_invalid("boot-package", quoted(manifest.boot_package) + " is not the package of app.apk, " +
                                          quoted(apk.package));
    if (!manifest.abi.empty() && !has_native_code(apk, manifest.abi))
        throw_invalid("abi", "app.apk has native code for " + quoted(join(apk.abis, ", ")) + ", not for " +
                                 manifest.abi);
}

}  // namespace

ApkCopy::ApkCopy(const std::filesystem::path& folder) : folder_(folder) {}

void ApkCopy::take(const PackageEntry& file, std::uint64_t offset, std::string_view bytes) {
    if (file.path != apk_name || failure_) return;
    try {
        write(offset, bytes);
    } catch (const Error&) {
        failure_ = std::current_exception();
        file_.reset();
    }
}

void ApkCopy::write(std::uint64_t offset, std::string_view bytes) {
    if (!file_) file_ = nameless_file(folder_);
    if (!room_) room_.emplace(folder_, apk_floor, "read app.apk");
    room_->take(bytes.size());
    if (::lseek(file_.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
        throw system_error("cannot copy app.apk", errno);
    with_context("cannot copy app.apk", [&] { write_all(file_.get(), bytes); });
}

ApkFacts ApkCopy::read(const ApkReader& reader) const {
    if (failure_) std::rethrow_exception(failure_);
    if (!file_) throw Error(ErrorCode::invalid_argument, "it is empty");
    if (::lseek(file_.get(), 0, SEEK_SET) < 0) throw system_error("cannot copy app.apk", errno);
    return reader.read(file_.get());
}

ApplicationManifest completed_manifest(const ApplicationManifest& manifest, const ApkFacts& apk) {
    check_agrees(manifest, apk);
    Json document = manifest.to_document();
    // What Android takes and the service does not stays away: such an application is started by its icon.
    if (manifest.boot_package.empty() && is_package_name(apk.package))
        document.set("boot-package", apk.package);
    if (manifest.boot_activity.empty() && is_activity_name(apk.activity))
        document.set("boot-activity", apk.activity);
    return ApplicationManifest::parse(document);  // once more: extra data lies below the boot package
}

}  // namespace svc
