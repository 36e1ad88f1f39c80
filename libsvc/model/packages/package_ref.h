#pragma once
// The packages of an instance, as the session file lists them for the agent (docs/agent.md, "Packages" and
// "Hooks").
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc {

// One version of an addon or application in an instance, in the order its hooks run (post-stop hooks: the
// reverse).
struct PackageRef {
    bool is_application = false;  // else an addon
    std::string name;
    int version = 0;
    std::string fingerprint;  // SHA-256 of the package; the agent fetches it as the artifact of this id
    std::uint64_t size = 0;   // bytes of the package
    std::vector<std::string> hooks;  // names of the hooks it has
    int hook_timeout_seconds = 300;
    bool fetch = false;  // true: the agent downloads and unpacks it first; false: a layer has its files

    bool has_hook(std::string_view hook) const;
    Json to_json() const;
    static PackageRef from_json(const Json& value);
    bool operator==(const PackageRef&) const = default;
};

// The same packages with `fetch` false: for an instance whose layers have their files.
std::vector<PackageRef> all_there(std::vector<PackageRef> packages);

// Which phases of the agent an instance needs (docs/agent.md). `base`: the instance bootstraps an
// application.
bool boots_with_agent(const std::vector<PackageRef>& packages,
                      bool base);  // anything to fetch, or a hook before the guest
bool ends_with_hooks(const std::vector<PackageRef>& packages,
                     bool base);  // a hook after the guest; a base instance always cleans up

}  // namespace svc
