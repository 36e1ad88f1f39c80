#pragma once
// manifest.yaml of application and addon packages (specification: Manifest YAML keys;
// docs/management.md, "Packages and manifests"). Values; not thread-safe.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/model/packages/video_encoder.h"

namespace svc {

struct Watchdog {
    bool disabled = false;
    std::vector<std::string> allowed_packages;  // package names, or exactly {"*"}
    std::string command;  // run by the guest's shell; fails when the application does; "": none
    bool operator==(const Watchdog&) const = default;
    // Keys `disabled`, `allowed-packages` (or with _), `command`; throws invalid_argument.
    static Watchdog from_json(const Json& value);
    Json to_json() const;  // allowed-packages null when empty, command left out
};

// `resources` of a manifest, a PATCH or a record. A field that is set overrides the instance type's.
struct ResourceOverrides {
    std::optional<double> cpus;
    std::optional<std::uint64_t> memory;  // bytes
    std::optional<std::uint64_t> disk;    // bytes
    std::optional<int> gpu_slots;         // nothing: not set
    std::string gpu_type;                 // "", "amd", "intel", "nvidia"
    bool operator==(const ResourceOverrides&) const = default;
    // Sizes as text ("3GB") or bytes; keys with - or _. Throws invalid_argument naming key, value and rule.
    static ResourceOverrides from_json(const Json& value);
    // The form of the API's record: `gpu-slots` is -1 when not set; others are left out when not set.
    Json to_json() const;
    InstanceResources over(InstanceResources base) const;
    // With the fields of `patch` replaced. A patch without any field unsets all.
    ResourceOverrides changed_by(const ResourceOverrides& patch) const;
};

struct ExtraData {
    std::string target;
    std::string owner;        // "uid:gid" or names; "": the default of the target
    std::string permissions;  // octal text; "": the default of the target
    bool operator==(const ExtraData&) const = default;
};

// A hook's name as packages spell it: install, prepare, restore, backup, pre-start, post-start, post-stop.
bool is_hook_name(std::string_view name);

inline constexpr int default_hook_timeout_seconds = 300;
inline constexpr int max_hook_timeout_seconds = 900;

// The keys whose plain scalars are text whatever they look like (`version: 1.10`, `permissions: 0660`): for
// parse_yaml().
std::span<const std::string_view> manifest_text_keys();

struct ApplicationManifest {
    std::string name;
    std::string version;        // free text
    std::string instance_type;  // "": a2.3
    std::string image;          // name or id; "": the default image
    std::string boot_package;
    std::string boot_activity;
    std::string boot;  // run by the guest's shell once the guest is ready; "": none
    std::vector<std::string> required_permissions;
    std::vector<std::string> addons;
    std::vector<std::string> tags;
    std::vector<std::string> features;
    VideoEncoder video_encoder = VideoEncoder::gpu_preferred;
    Watchdog watchdog;
    std::vector<ServiceEntry> services;
    ResourceOverrides resources;
    std::map<std::string, ExtraData> extra_data;
    std::string hook_timeout;       // as written, "": the default
    std::vector<std::string> keep;  // bootstrap.keep
    std::vector<std::string> node_selector;
    std::string abi;

    // From the YAML document (read with manifest_text_keys()). Checks type, range and pattern of every key;
    // the error names key, value and rule: "manifest is malformed: argument watchdog.allowed-packages[1] is
    // invalid: 'x y' is not a package name". A document that is no map: "manifest is malformed". Unknown keys
    // are ignored; their names are added to `ignored` when it is given.
    static ApplicationManifest parse(const Json& document, std::vector<std::string>* ignored = nullptr);
    // The document of the manifest download: the keys of the specification in its order, then the others that
    // are set. It loses nothing, so the store keeps this form too.
    Json to_document() const;
    int hook_timeout_seconds() const;
};

struct AddonManifest {
    std::string name;
    std::string description;
    std::vector<std::string> abi_support;  // provides.abi-support
    std::string hook_timeout;
    static AddonManifest parse(const Json& document, std::vector<std::string>* ignored = nullptr);
    int hook_timeout_seconds() const;
};

// "5m", "" is the default. Throws invalid_argument "hooks.timeout: ..." beyond 15 minutes, negative,
// unparsable.
int parse_hook_timeout(std::string_view field, std::string_view text);

}  // namespace svc
