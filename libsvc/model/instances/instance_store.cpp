// The stored form of an instance: all of it, exact times, and sizes as numbers.
#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/model/instances/instance.h"
#include "libsvc/model/values/numbers.h"

namespace svc {

namespace {

// Schema 1: one `layer`. Schema 2: `layers`, and the fields of application instances. Schema 3: the digests
// of stored logs. Schema 6: a limited lifetime, which an earlier program would drop. Schema 7: an
// instance of a pool, which an earlier program would take for anybody's. Other records stay what they are.
constexpr int instance_schema = 3;
constexpr int limited_schema = 6;
constexpr int pooled_schema = 7;

int schema_of(const Instance& instance) {
    if (instance.pooled) return pooled_schema;
    return instance.lifetime.is_limited() ? limited_schema : instance_schema;
}

bool is_default(const Json& value) {
    if (value.is_bool()) return !value.as_bool();
    if (value.is_string()) return value.as_string().empty();
    if (value.is_array()) return value.as_array().empty();
    if (value.is_object()) return value.as_object().empty();
    return value.is_null() || (value.is_integer() && value == Json(0));
}

// Fields that have their default are left out of the stored record: most fields of most records do.
Json without_defaults(JsonMembers members) {
    std::erase_if(members, [](const auto& member) { return is_default(member.second); });
    return Json::object(std::move(members));
}

void append(Json& record, const Json& more) {
    for (const auto& [key, value] : more.as_object()) record.set(key, value);
}

Json time_to_store(Time time) {
    return time == Time{} ? Json() : Json(to_rfc3339(time));
}

Json strings_to_json(const std::vector<std::string>& items) {
    return JsonArray(items.begin(), items.end());
}

Json services_to_store(const std::vector<ServiceEntry>& services) {
    JsonArray result;
    for (const ServiceEntry& service : services) result.push_back(service.to_json());
    return result;
}

Json config_to_store(const InstanceConfig& config) {
    return without_defaults({{"platform", config.platform},
                             {"boot_package", config.boot_package},
                             {"boot_activity", config.boot_activity},
                             {"metrics_server", config.metrics_server},
                             {"features", config.features},
                             {"disable_watchdog", config.disable_watchdog},
                             {"devmode", config.devmode},
                             {"delete_protected", config.delete_protected}});
}

Json resources_to_store(const InstanceResources& resources) {
    return without_defaults({{"cpus", number_json(resources.cpus)},
                             {"memory", resources.memory},
                             {"disk", resources.disk},
                             {"gpu_slots", resources.gpu_slots}});
}

Json ready_to_store(const ReadinessCheck& ready) {
    return without_defaults({{"file", ready.file}, {"command", ready.command}, {"port", int{ready.port}}});
}

Json packages_to_store(const std::vector<PackageRef>& packages) {
    JsonArray result;
    for (const PackageRef& package : packages) result.push_back(package.to_json());
    return result;
}

// A field that an older record lacks has its default.
std::string text(const JsonFields& fields, std::string_view key) {
    return fields.string(key).value_or("");
}
int number(const JsonFields& fields, std::string_view key) {
    return static_cast<int>(fields.integer(key).value_or(0));
}
std::uint16_t port(const JsonFields& fields, std::string_view key) {
    return static_cast<std::uint16_t>(fields.integer(key).value_or(0));
}
std::uint64_t bytes(const JsonFields& fields, std::string_view key) {
    return static_cast<std::uint64_t>(fields.integer(key).value_or(0));
}
bool flag(const JsonFields& fields, std::string_view key) {
    return fields.boolean(key).value_or(false);
}
std::vector<std::string> stored_texts(const JsonFields& fields, std::string_view key) {
    return fields.strings(key).value_or(std::vector<std::string>());
}
Time time(const JsonFields& fields, std::string_view key) {
    const auto value = fields.string(key);
    return value ? from_rfc3339(*value) : Time{};
}

std::vector<int> numbers(const JsonFields& fields, std::string_view key) {
    std::vector<int> result;
    const Json* const items = fields.raw(key);
    if (items == nullptr) return result;
    if (!items->is_array()) throw_invalid(fields.path_of(key), "must be an array");
    for (const Json& item : items->as_array()) result.push_back(static_cast<int>(item.as_int()));
    return result;
}

std::vector<ServiceEntry> services_from_store(const JsonFields& fields) {
    std::vector<ServiceEntry> result;
    const auto services = fields.objects("services").value_or(std::vector<JsonFields>());
    for (const JsonFields& item : services) {
        ServiceEntry entry;
        entry.name = text(item, "name");
        entry.port = port(item, "port");
        entry.port_end = port(item, "port_end");
        entry.node_port = port(item, "node_port");
        entry.node_port_end = port(item, "node_port_end");
        entry.protocols = stored_texts(item, "protocols");
        entry.expose = flag(item, "expose");
        result.push_back(std::move(entry));
    }
    return result;
}

InstanceConfig config_from_store(const JsonFields& fields) {
    return {text(fields, "platform"),       text(fields, "boot_package"),    text(fields, "boot_activity"),
            text(fields, "metrics_server"), text(fields, "features"),        flag(fields, "disable_watchdog"),
            flag(fields, "devmode"),        flag(fields, "delete_protected")};
}

InstanceResources resources_from_store(const JsonFields& fields) {
    return {fields.number("cpus").value_or(0), bytes(fields, "memory"), bytes(fields, "disk"),
            number(fields, "gpu_slots")};
}

std::vector<PackageRef> packages_from_store(const JsonFields& fields) {
    std::vector<PackageRef> result;
    const auto packages = fields.objects("packages").value_or(std::vector<JsonFields>());
    for (const JsonFields& package : packages) result.push_back(PackageRef::from_json(package.value()));
    return result;
}

std::vector<std::string> layers_from_store(const JsonFields& fields) {
    if (auto layers = fields.strings("layers")) return *layers;
    const std::string layer = text(fields, "layer");
    return layer.empty() ? std::vector<std::string>() : std::vector<std::string>{layer};
}

Json logs_to_store(const std::vector<StoredLog>& logs) {
    Json stored = Json::array();
    for (const StoredLog& log : logs) {
        Json each = Json::object({{"name", log.name}});
        if (!log.digest.empty()) each.set("digest", log.digest);
        stored.push_back(std::move(each));
    }
    return stored;
}

// Earlier versions stored the names alone.
std::vector<StoredLog> logs_from_store(const JsonFields& fields) {
    std::vector<StoredLog> logs;
    const Json* const items = fields.raw("stored_logs");
    if (items == nullptr) return logs;
    if (!items->is_array()) throw_invalid(fields.path_of("stored_logs"), "must be an array");
    for (const Json& item : items->as_array()) {
        if (item.is_string()) {
            logs.push_back({item.as_string(), {}});
            continue;
        }
        const JsonFields log(item);
        logs.push_back({log.require_string("name"), text(log, "digest")});
    }
    return logs;
}

InstanceType type_from_store(const std::string& name) {
    for (const InstanceType type : {InstanceType::regular, InstanceType::base})
        if (to_text(type) == name) return type;
    return InstanceType::unknown;
}

void read_identity(const JsonFields& fields, Instance& instance) {
    instance.id = InstanceId(fields.require_string("id"));
    instance.type = type_from_store(fields.require_string("type"));
    instance.status =
        parse_instance_status(fields.require_string("status")).value_or(InstanceStatus::unknown);
    instance.node = text(fields, "node");
    instance.app_id = text(fields, "app_id");
    instance.app_version = number(fields, "app_version");
    instance.image_id = text(fields, "image_id");
    instance.image_version = number(fields, "image_version");
    instance.created_at = from_rfc3339(fields.require_string("created_at"));
}

Lifetime lifetime_from_store(const JsonFields& fields) {
    return {time(fields, "expires_at"), Duration(fields.integer("idle_after").value_or(0)),
            time(fields, "used_at")};
}

void read_state(const JsonFields& fields, Instance& instance) {
    instance.address = text(fields, "address");
    instance.public_address = text(fields, "public_address");
    instance.services = services_from_store(fields);
    instance.stored_logs = logs_from_store(fields);
    instance.error_message = clipped(text(fields, "error_message"), max_error_bytes);
    if (const auto config = fields.object("config")) instance.config = config_from_store(*config);
    if (const auto resources = fields.object("resources"))
        instance.resources = resources_from_store(*resources);
    instance.architecture = text(fields, "architecture");
    instance.tags = stored_texts(fields, "tags");
    instance.lifetime = lifetime_from_store(fields);
}

void read_placement(const JsonFields& fields, Instance& instance) {
    instance.wanted_node = text(fields, "wanted_node");
    instance.node_selector = stored_texts(fields, "node_selector");
    instance.gpu_type = text(fields, "gpu_type");
    instance.needs_gpu_encoder = flag(fields, "needs_gpu_encoder");
    instance.prefers_gpu_encoder = flag(fields, "prefers_gpu_encoder");
    instance.gpu_encoder_slots = number(fields, "gpu_encoder_slots");
    instance.gpus = numbers(fields, "gpus");
}

void read_internals(const JsonFields& fields, Instance& instance) {
    instance.own_name = text(fields, "name");
    instance.instance_type = text(fields, "instance_type");
    instance.app_name = text(fields, "app_name");
    instance.layers = layers_from_store(fields);
    instance.packages = packages_from_store(fields);
    if (const auto app = fields.object("app")) instance.app = AppSetup::from_json(app->value());
    instance.features = stored_texts(fields, "features");
    instance.notes = joined_notes({}, stored_texts(fields, "notes"));
    instance.init = text(fields, "init");
    instance.image_variant = text(fields, "image_variant");
    instance.android = flag(fields, "android");
    if (const auto ready = fields.object("ready"))
        instance.ready = ReadinessCheck{text(*ready, "file"), text(*ready, "command"), port(*ready, "port")};
    instance.user_data = text(fields, "user_data");
    instance.no_start = flag(fields, "no_start");
    instance.stop_requested = flag(fields, "stop_requested");
    instance.paused = flag(fields, "paused");
    instance.pooled = flag(fields, "pooled");
    instance.status_when_readable =
        parse_instance_status(text(fields, "status_when_readable")).value_or(InstanceStatus::unknown);
    instance.end_hooks_due = flag(fields, "end_hooks_due");
    instance.start_requested_at = time(fields, "start_requested_at");
    instance.start_mark = SteadyMark::from_json(fields, "start_mark");
    instance.stopped_at = time(fields, "stopped_at");
    instance.stop_mark = SteadyMark::from_json(fields, "stop_mark");
    instance.task_id = text(fields, "task_id");
    instance.launch_operation = text(fields, "launch_operation");
}

// The fields that the API shows.
Json shown_members(const Instance& instance) {
    return without_defaults({
        {"node", *instance.node},
        {"app_id", *instance.app_id},
        {"app_version", instance.app_version},
        {"image_id", *instance.image_id},
        {"image_version", instance.image_version},
        {"address", instance.address},
        {"public_address", *instance.public_address},
        {"services", services_to_store(instance.services)},
        {"stored_logs", logs_to_store(instance.stored_logs)},
        {"error_message", *instance.error_message},
        {"config", config_to_store(instance.config)},
        {"resources", resources_to_store(instance.resources)},
        {"architecture", *instance.architecture},
        {"tags", strings_to_json(instance.tags)},
        {"expires_at", time_to_store(instance.lifetime.expires_at)},
        {"idle_after", instance.lifetime.idle_after.count()},
        {"used_at", time_to_store(instance.lifetime.used_at)},
    });
}

Json internals(const Instance& instance) {
    return without_defaults({
        {"name", *instance.own_name},
        {"instance_type", *instance.instance_type},
        {"app_name", *instance.app_name},
        {"layers", strings_to_json(instance.layers)},
        {"packages", packages_to_store(instance.packages)},
        {"app", instance.app == AppSetup() ? Json() : instance.app->to_json()},
        {"features", strings_to_json(instance.features)},
        {"notes", strings_to_json(instance.notes)},
        {"init", *instance.init},
        {"image_variant", *instance.image_variant},
        {"android", instance.android},
        {"ready", ready_to_store(instance.ready)},
        {"user_data", *instance.user_data},
        {"no_start", instance.no_start},
        {"stop_requested", instance.stop_requested},
        {"paused", instance.paused},
        {"pooled", instance.pooled},
        {"status_when_readable", instance.status_when_readable == InstanceStatus::unknown
                                     ? std::string_view()
                                     : to_text(instance.status_when_readable)},
        {"end_hooks_due", instance.end_hooks_due},
        {"wanted_node", *instance.wanted_node},
        {"node_selector", strings_to_json(instance.node_selector)},
        {"gpu_type", *instance.gpu_type},
        {"needs_gpu_encoder", instance.needs_gpu_encoder},
        {"prefers_gpu_encoder", instance.prefers_gpu_encoder},
        {"gpu_encoder_slots", instance.gpu_encoder_slots},
        {"gpus", JsonArray(instance.gpus.begin(), instance.gpus.end())},
        {"start_requested_at", time_to_store(instance.start_requested_at)},
        {"start_mark", instance.start_mark.to_json()},
        {"stopped_at", time_to_store(instance.stopped_at)},
        {"stop_mark", instance.stop_mark.to_json()},
        {"task_id", instance.task_id},
        {"launch_operation", instance.launch_operation},
    });
}

}  // namespace

Json instance_to_store(const Instance& instance) {
    Json record = Json::object({
        {"schema", schema_of(instance)},
        {"id", instance.id.str()},
        {"type", to_text(instance.type)},
        {"status", to_text(instance.status)},
        {"created_at", to_rfc3339(instance.created_at)},
    });
    append(record, shown_members(instance));
    append(record, internals(instance));
    return record;
}

// Texts of guests are cut here as well: earlier versions of the service stored them without a limit.
Instance instance_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Instance instance;
    read_identity(fields, instance);
    read_state(fields, instance);
    read_placement(fields, instance);
    read_internals(fields, instance);
    return instance;
}

}  // namespace svc
