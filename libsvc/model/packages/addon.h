#pragma once
// Addons and their versions (specification: Addon; docs/management.md, "Packages and manifests").
// Values; not thread-safe.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/model/packages/package_ref.h"

namespace svc {

struct AddonVersion {
    int version = 0;
    std::string fingerprint;  // SHA-256 of the package
    std::uint64_t size = 0;
    Time created_at{};
    bool deleting = false;
    // Not in the API:
    std::vector<std::string> hooks;
    std::vector<std::string> abi_support;
    int hook_timeout_seconds = 300;
    std::string description;
};

struct Addon {
    std::string name;                    // its identity
    std::vector<AddonVersion> versions;  // ascending
    int next_version = 0;                // numbers are never used again
    bool deleting = false;
    Time created_at{};

    const AddonVersion* version(int number) const;  // null pointer: none
    AddonVersion* version(int number);
    const AddonVersion* newest() const;  // of those that are not being deleted
    PackageRef package(const AddonVersion& version, bool fetch) const;
};

Json to_json(const Addon& addon,
             const std::vector<std::string>& used_by);  // the API's record; used_by null when empty
Json addon_to_store(const Addon& addon);
Addon addon_from_store(const Json& stored);
std::string etag_text(const Addon& addon);  // the ETag is its SHA-256: docs/management.md, "ETags"

// X-SVC-Request of POST.
struct AddonRequest {
    std::string name;
    static AddonRequest parse(std::string_view header);  // throws invalid_argument
};

}  // namespace svc
