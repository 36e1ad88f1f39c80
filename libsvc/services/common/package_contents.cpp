#include "libsvc/services/common/package_contents.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/model/packages/manifest.h"

namespace svc {

namespace {

constexpr unsigned executable_bits = 0111;
constexpr std::size_t max_named_keys = 20;
constexpr std::string_view hook_folder = "hooks/";

bool is_program(const PackageEntry& entry) {
    const bool is_file = entry.kind == PackageEntryKind::file || entry.kind == PackageEntryKind::hard_link;
    return is_file && (entry.mode & executable_bits) != 0;
}

}  // namespace

Json read_manifest_document(const PackageListing& listing) {
    if (!listing.has_manifest) throw Error(ErrorCode::invalid_argument, "manifest.yaml not found");
    return with_context("manifest is malformed",
                        [&] { return parse_yaml(listing.manifest, manifest_text_keys()); });
}

void log_ignored_keys(const std::string& package, const std::vector<std::string>& keys) {
    if (keys.empty()) return;
    // Whoever made the package chose them: not a line of a megabyte for every subscriber of the log.
    std::vector<std::string> named;
    for (const std::string& key : keys) named.push_back(named.size() < max_named_keys ? quoted(key) : "...");
    named.resize(std::min(named.size(), max_named_keys + 1));
    log::info("unknown keys of a manifest ignored", {{"package", package}, {"keys", join(named, ", ")}});
}

std::vector<std::string> read_hooks(const PackageListing& listing) {
    std::vector<std::string> hooks;
    for (const PackageEntry& entry : listing.entries) {
        if (!entry.path.starts_with(hook_folder)) continue;
        const std::string name = entry.path.substr(hook_folder.size());
        if (!is_hook_name(name)) continue;
        if (!is_program(entry)) throw Error(ErrorCode::invalid_argument, entry.path + " not executable");
        hooks.push_back(name);
    }
    return hooks;
}

}  // namespace svc
