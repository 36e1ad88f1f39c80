// Requests about instances: launch, PATCH and exec.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/cluster/metrics_server.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/numbers.h"
#include "libsvc/model/values/size.h"

namespace svc {

namespace {

constexpr std::size_t max_user_data_bytes = 10240;
constexpr std::array<std::string_view, 3> platforms{"null", "swrast", "webrtc"};

// -1 is how records print what is not set.
std::optional<int> count_in(const JsonFields& fields, std::string_view key) {
    const auto value = fields.integer(key);
    if (!value || *value == -1) return std::nullopt;
    if (*value < 0) throw_invalid(fields.path_of(key), "must be at least 0");
    if (*value > std::numeric_limits<int>::max()) throw_invalid(fields.path_of(key), "is too large");
    return static_cast<int>(*value);
}

std::string text_without_nul(const JsonFields& fields, std::string_view key) {
    std::string value = fields.string(key).value_or("");
    if (value.find('\0') != std::string::npos) throw_invalid(fields.path_of(key), "must not contain NUL");
    return value;
}

// config.security.delete_protected, or the key "security.delete_protected" of config.
std::optional<bool> read_protection(const JsonFields& config) {
    if (const auto value = config.boolean("security.delete_protected")) return value;
    const auto security = config.object("security");
    return security ? security->boolean("delete_protected") : std::nullopt;
}

InstanceConfig read_requested_config(const JsonFields& fields) {
    InstanceConfig config;
    config.platform = fields.string("platform").value_or("");
    if (!config.platform.empty() &&
        std::find(platforms.begin(), platforms.end(), config.platform) == platforms.end())
        throw_invalid(fields.path_of("platform"), "must be null, swrast or webrtc");
    config.boot_package = fields.string("boot_package").value_or("");
    if (!config.boot_package.empty()) check_boot_package(fields.path_of("boot_package"), config.boot_package);
    config.boot_activity = fields.string("boot_activity").value_or("");
    if (!config.boot_activity.empty())
        check_boot_activity(fields.path_of("boot_activity"), config.boot_activity);
    config.metrics_server = text_without_nul(fields, "metrics_server");
    if (!config.metrics_server.empty())
        MetricsServer::parse(fields.path_of("metrics_server"), config.metrics_server);
    config.features = text_without_nul(fields, "features");
    config.disable_watchdog = fields.boolean("disable_watchdog").value_or(false);
    config.devmode = fields.boolean("devmode").value_or(false);
    config.delete_protected = read_protection(fields).value_or(false);
    return config;
}

void refuse_with(const JsonFields& fields, std::string_view key, std::string_view other) {
    throw_invalid(fields.path_of(key), "cannot be given together with " + std::string(other));
}

// A member of a launch. A value may be given in several places.
struct Place {
    const JsonFields& fields;
    std::string_view key;
};

// The value of the places that are filled in. Throws invalid_argument where two differ.
template <class Read>
auto agreed(std::initializer_list<Place> places, Read read) {
    decltype(read(places.begin()->fields, "")) result;
    std::string first;
    for (const auto& [fields, key] : places) {
        const auto value = read(fields, key);
        if (!value) continue;
        const std::string path = fields.path_of(key);
        if (result && *result != *value) throw_invalid(path, "must be the same as " + first);
        if (!result) first = path;
        result = value;
    }
    return result;
}

// The specification's name of a field wins over its alias; a value in `resources` must be equal to it.
void read_resources(const JsonFields& fields, InstanceCreate& request) {
    const Json none = Json::object();
    const JsonFields inner = fields.object("resources").value_or(JsonFields(none));
    request.cpus = agreed({{fields, "cpu|cpus"}, {inner, "cpus|cpu"}}, cpus_in);
    request.memory = agreed({{fields, "memory"}, {inner, "memory"}}, amount_in);
    request.disk_size = agreed({{fields, "disk_size|disk-size"}, {inner, "disk_size|disk-size"}}, amount_in);
    request.gpu_slots = agreed({{fields, "gpu_slots|gpu-slots"}, {inner, "gpu-slots|gpu_slots"}}, count_in);
}

void read_source(const JsonFields& fields, InstanceCreate& request) {
    request.app_id = fields.string("app_id").value_or("");
    request.app_version = count_in(fields, "app_version");
    request.image_id = fields.string("image_id").value_or("");
    request.image_version = count_in(fields, "image_version");
    request.snapshot = fields.string("snapshot").value_or("");
    request.instance_type = fields.string("instance_type").value_or("");
    request.addons = fields.strings("addons").value_or(std::vector<std::string>());
    check_list_size("addons", request.addons.size());
}

void check_from_application(const JsonFields& fields, const InstanceCreate& request) {
    if (!request.image_id.empty()) refuse_with(fields, "app_id", "image_id");
    if (request.image_version) refuse_with(fields, "image_version", "app_id");
    if (!request.instance_type.empty()) refuse_with(fields, "instance_type", "app_id");
    if (!request.addons.empty()) refuse_with(fields, "addons", "app_id");
}

void check_from_image(const JsonFields& fields, const InstanceCreate& request) {
    if (request.image_id.empty()) throw Error(ErrorCode::invalid_argument, "app_id or image_id is required");
    if (request.app_version) refuse_with(fields, "app_version", "image_id");
    const bool is_sized = request.cpus || request.memory || request.disk_size;
    if (request.instance_type.empty() && !is_sized)
        throw Error(ErrorCode::invalid_argument, "instance_type is required");
    if (!request.instance_type.empty() && !instance_type_resources(request.instance_type))
        throw_invalid("instance_type", "unknown instance type " + quoted(request.instance_type));
    if (std::find(request.addons.begin(), request.addons.end(), "") != request.addons.end())
        throw_invalid("addons", "must not contain an empty name");
}

void check_from_snapshot(const JsonFields& fields, const InstanceCreate& request) {
    if (!request.app_id.empty()) refuse_with(fields, "app_id", "snapshot");
    if (!request.image_id.empty()) refuse_with(fields, "image_id", "snapshot");
    if (request.app_version) refuse_with(fields, "app_version", "snapshot");
    if (request.image_version) refuse_with(fields, "image_version", "snapshot");
    if (!request.instance_type.empty()) refuse_with(fields, "instance_type", "snapshot");
    if (!request.addons.empty()) refuse_with(fields, "addons", "snapshot");
}

void check_source(const JsonFields& fields, const InstanceCreate& request) {
    if (!request.snapshot.empty())
        check_from_snapshot(fields, request);
    else if (request.app_id.empty())
        check_from_image(fields, request);
    else
        check_from_application(fields, request);
}

void check_one_wish(const JsonFields& fields, const InstancePatch& patch) {
    if (patch.desired_status && patch.delete_protected) refuse_with(fields, "config", "desired_status");
    if (patch.lifetime.empty()) return;
    const char* const field = patch.lifetime.expires_after ? "expires_after" : "idle_after";
    if (patch.desired_status) refuse_with(fields, field, "desired_status");
    if (patch.delete_protected) refuse_with(fields, field, "config");
}

void read_environment(const JsonFields& fields, ExecRequest& request) {
    for (auto& [name, value] :
         fields.string_map("environment").value_or(std::map<std::string, std::string>())) {
        if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
            throw_invalid("environment", "names must not be empty or contain = or NUL");
        if (value.find('\0') != std::string::npos)
            throw_invalid("environment." + name, "must not contain NUL");
        request.environment.emplace_back(name, value);
    }
}

}  // namespace

InstanceCreate InstanceCreate::from_json(const Json& body) {
    const JsonFields fields(body);
    InstanceCreate request;
    if (fields.string("type") == "vm") throw Error(ErrorCode::unsupported, "type vm not supported");
    read_resources(fields, request);
    read_source(fields, request);
    check_source(fields, request);
    request.name = fields.string("name").value_or("");
    if (!request.name.empty()) check_instance_name("name", request.name);
    request.user_data = fields.string("user_data").value_or("");
    if (request.user_data.size() > max_user_data_bytes)
        throw Error(ErrorCode::invalid_argument, "length of user_data is invalid");
    request.node = fields.string("node").value_or("");
    const auto services = fields.objects("services").value_or(std::vector<JsonFields>());
    check_list_size("services", services.size());
    for (const JsonFields& service : services) request.services.push_back(ServiceEntry::from_json(service));
    check_services(request.services);
    request.tags = fields.strings("tags").value_or(std::vector<std::string>());
    check_list_size("tags", request.tags.size());
    for (std::size_t i = 0; i < request.tags.size(); ++i)
        check_tag("tags[" + std::to_string(i) + "]", request.tags[i]);
    request.no_start = fields.boolean("no_start").value_or(false);
    if (const auto config = fields.object("config")) request.config = read_requested_config(*config);
    request.lifetime = LifetimeWish::from_json(fields);
    return request;
}

InstancePatch InstancePatch::from_json(const Json& body) {
    const JsonFields fields(body);
    InstancePatch patch;
    patch.desired_status = fields.string("desired_status");
    if (const auto config = fields.object("config")) patch.delete_protected = read_protection(*config);
    patch.lifetime = LifetimeWish::from_json(fields);
    if (!patch.desired_status && !patch.delete_protected && patch.lifetime.empty())
        throw Error(
            ErrorCode::invalid_argument,
            "desired_status, config.security.delete_protected, expires_after or idle_after is required");
    check_one_wish(fields, patch);
    return patch;
}

ExecRequest ExecRequest::from_json(const Json& body) {
    const JsonFields fields(body);
    ExecRequest request;
    request.command = fields.strings("command").value_or(std::vector<std::string>());
    if (request.command.empty() || request.command[0].empty())
        throw Error(ErrorCode::invalid_argument, "command is required");
    for (std::size_t i = 0; i < request.command.size(); ++i)
        if (request.command[i].find('\0') != std::string::npos)
            throw_invalid("command[" + std::to_string(i) + "]", "must not contain NUL");
    read_environment(fields, request);
    request.interactive = fields.boolean("interactive").value_or(false);
    const int width = bounded(fields, "width", 0, 65535).value_or(0);
    const int height = bounded(fields, "height", 0, 65535).value_or(0);
    if (width > 0) request.width = static_cast<unsigned>(width);
    if (height > 0) request.height = static_cast<unsigned>(height);
    return request;
}

}  // namespace svc
