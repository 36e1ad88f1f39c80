// Values that manifests, requests and records have in common.
#include <algorithm>
#include <array>
#include <limits>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/packages/manifest.h"
#include "libsvc/model/packages/manifest_rules.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/numbers.h"
#include "libsvc/model/values/size.h"

namespace svc {

namespace {

using rules::refuse;

constexpr std::array<EnumName<VideoEncoder>, 3> encoder_names{{{VideoEncoder::gpu, "gpu"},
                                                               {VideoEncoder::gpu_preferred, "gpu-preferred"},
                                                               {VideoEncoder::software, "software"}}};

constexpr std::array<std::string_view, 7> hook_names{"install",   "prepare",    "restore",  "backup",
                                                     "pre-start", "post-start", "post-stop"};
constexpr std::array<std::string_view, 3> gpu_types{"amd", "intel", "nvidia"};

void check_allowed_packages(const std::string& path, const std::vector<std::string>& packages) {
    for (std::size_t i = 0; i < packages.size(); ++i) {
        if (packages[i] == "*" && packages.size() > 1)
            refuse(rules::item_path(path, i), packages[i], "must stand alone");
        if (packages[i] != "*" && !is_package_name(packages[i]))
            refuse(rules::item_path(path, i), packages[i], "is not a package name");
    }
}

// An empty text: the instance type's value.
std::optional<std::uint64_t> read_amount(const JsonFields& fields, std::string_view key) {
    const Json* const value = fields.raw(key);
    if (value != nullptr && *value == Json("")) return std::nullopt;
    return amount_in(fields, key);
}

std::optional<int> read_count(const JsonFields& fields, std::string_view key, int lowest) {
    const auto value = fields.integer(key);
    if (!value) return std::nullopt;
    if (*value < lowest)
        refuse(fields.path_of(key), std::to_string(*value), "is below " + std::to_string(lowest));
    if (*value > std::numeric_limits<int>::max())
        refuse(fields.path_of(key), std::to_string(*value), "is too large");
    return static_cast<int>(*value);
}

}  // namespace

Watchdog Watchdog::from_json(const Json& value) {
    const JsonFields fields(value, "watchdog");
    Watchdog watchdog;
    watchdog.disabled = fields.boolean("disabled").value_or(false);
    constexpr std::string_view key = "allowed-packages|allowed_packages";
    watchdog.allowed_packages = fields.strings(key).value_or(std::vector<std::string>());
    check_allowed_packages(fields.path_of(key), watchdog.allowed_packages);
    watchdog.command = fields.string("command").value_or("");
    rules::check_command(fields.path_of("command"), watchdog.command);
    return watchdog;
}

Json Watchdog::to_json() const {
    Json result = Json::object(
        {{"disabled", disabled}, {"allowed-packages", rules::strings_or_null(allowed_packages)}});
    if (!command.empty()) result.set("command", command);
    return result;
}

ResourceOverrides ResourceOverrides::from_json(const Json& value) {
    const JsonFields fields(value, "resources");
    ResourceOverrides resources;
    resources.cpus = cpus_in(fields, "cpus|cpu");
    resources.memory = read_amount(fields, "memory");
    resources.disk = read_amount(fields, "disk-size|disk_size");
    resources.gpu_slots = read_count(fields, "gpu-slots|gpu_slots", -1);
    if (resources.gpu_slots == -1) resources.gpu_slots.reset();  // how records print "not set"
    resources.gpu_type = fields.string("gpu-type|gpu_type").value_or("");
    if (!resources.gpu_type.empty() &&
        std::find(gpu_types.begin(), gpu_types.end(), resources.gpu_type) == gpu_types.end())
        refuse(fields.path_of("gpu-type|gpu_type"), resources.gpu_type, "is not one of amd, intel, nvidia");
    return resources;
}

Json ResourceOverrides::to_json() const {
    Json result = Json::object();
    if (cpus) result.set("cpus", number_json(*cpus));
    if (memory) result.set("memory", exact_size(*memory));
    if (disk) result.set("disk-size", exact_size(*disk));
    result.set("gpu-slots", gpu_slots.value_or(-1));
    if (!gpu_type.empty()) result.set("gpu-type", gpu_type);
    return result;
}

ResourceOverrides ResourceOverrides::changed_by(const ResourceOverrides& patch) const {
    if (patch == ResourceOverrides()) return {};
    ResourceOverrides changed = *this;
    if (patch.cpus) changed.cpus = patch.cpus;
    if (patch.memory) changed.memory = patch.memory;
    if (patch.disk) changed.disk = patch.disk;
    if (patch.gpu_slots) changed.gpu_slots = patch.gpu_slots;
    if (!patch.gpu_type.empty()) changed.gpu_type = patch.gpu_type;
    return changed;
}

InstanceResources ResourceOverrides::over(InstanceResources base) const {
    base.cpus = cpus.value_or(base.cpus);
    base.memory = memory.value_or(base.memory);
    base.disk = disk.value_or(base.disk);
    base.gpu_slots = gpu_slots.value_or(base.gpu_slots);
    return base;
}

std::string_view to_text(VideoEncoder value) {
    return enum_text<VideoEncoder>(encoder_names, value);
}

VideoEncoder parse_video_encoder(std::string_view field, std::string_view text) {
    if (const auto value = enum_value<VideoEncoder>(encoder_names, text)) return *value;
    refuse(field, text, "is not one of gpu, gpu-preferred, software");
}

bool is_hook_name(std::string_view name) {
    return std::find(hook_names.begin(), hook_names.end(), name) != hook_names.end();
}

int parse_hook_timeout(std::string_view field, std::string_view text) {
    if (text.empty()) return default_hook_timeout_seconds;
    Duration duration{};
    try {
        duration = parse_duration(text);
    } catch (const Error&) {
        refuse(field, text, "is not a duration like 90s or 5m");
    }
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(duration).count();
    if (seconds < 1) refuse(field, text, "is not above 0");
    if (seconds > max_hook_timeout_seconds) refuse(field, text, "is above 15m");
    return static_cast<int>(seconds);
}

}  // namespace svc
