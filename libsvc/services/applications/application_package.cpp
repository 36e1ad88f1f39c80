#include "libsvc/services/applications/application_package.h"

#include <algorithm>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_apk.h"
#include "libsvc/services/common/package_contents.h"

namespace svc {

namespace {

constexpr std::string_view extra_data_folder = "extra-data/";

[[noreturn]] void refuse(const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, reason);
}

ApplicationManifest read_manifest(const PackageListing& listing) {
    std::vector<std::string> ignored;
    ApplicationManifest manifest = ApplicationManifest::parse(read_manifest_document(listing), &ignored);
    log_ignored_keys(manifest.name, ignored);
    return manifest;
}

// Archives need not name the directories that their files are in.
bool holds(const PackageListing& listing, const std::string& path) {
    return std::ranges::any_of(listing.entries, [&](const PackageEntry& entry) {
        return entry.path == path || entry.path.starts_with(path + "/");
    });
}

void check_extra_data(const PackageListing& listing, const ApplicationManifest& manifest) {
    for (const auto& [name, data] : manifest.extra_data) {
        const std::string path = std::string(extra_data_folder) + name;
        if (!holds(listing, path)) refuse(path + " not found");
    }
}

bool has_apk(const PackageListing& listing) {
    const PackageEntry* const apk = listing.find("app.apk");
    if (apk != nullptr && apk->kind != PackageEntryKind::file) refuse("app.apk is not a file");
    return apk != nullptr;
}

// Nothing, with a note: it cannot be read. The guest's package manager may still take it.
std::optional<ApkFacts> read_apk(const ApkCopy& copy, const ApkReader& apks, ApplicationPackage& result) {
    try {
        if (!apks.installed()) throw Error(ErrorCode::not_found, "'aapt' is not installed");
        return copy.read(apks);
    } catch (const Error& e) {
        result.notes.push_back(std::string("app.apk was not read: ") + e.what());
        log::warning("app.apk was not read", {{"application", result.manifest.name}, {"error", e.what()}});
        return std::nullopt;
    }
}

void take_apk(const ApkCopy& copy, const ApkReader& apks, ApplicationPackage& result) {
    const auto apk = read_apk(copy, apks, result);
    if (!apk) return;
    result.manifest = completed_manifest(result.manifest, *apk);
    result.apk_abis = apk->abis;
}

}  // namespace

ApplicationPackage read_application_package(const std::filesystem::path& package, const ApkReader& apks) {
    ApkCopy apk(package.parent_path());
    PackageSink copy;
    if (apks.installed())
        copy = [&apk](const PackageEntry& file, std::uint64_t offset, std::string_view bytes) {
            apk.take(file, offset, bytes);
        };
    const PackageListing listing = list_package(package, {}, {}, copy);
    ApplicationPackage result;
    result.manifest = read_manifest(listing);
    result.hooks = read_hooks(listing);
    check_extra_data(listing, result.manifest);
    if (has_apk(listing)) take_apk(apk, apks, result);
    return result;
}

std::string native_abi(std::string_view architecture) {
    if (architecture == "x86_64") return "x86_64";
    if (architecture == "aarch64") return "arm64-v8a";
    return {};
}

bool runs_abi(std::string_view architecture, const std::vector<std::string>& provided, std::string_view abi) {
    if (abi == native_abi(architecture)) return true;
    if (architecture == "x86_64" && abi == "x86") return true;
    if (architecture == "aarch64" && (abi == "armeabi-v7a" || abi == "armeabi")) return true;
    return std::ranges::find(provided, abi) != provided.end();
}

}  // namespace svc
