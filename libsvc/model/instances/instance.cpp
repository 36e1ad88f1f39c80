#include "libsvc/model/instances/instance.h"

#include <algorithm>
#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/model/values/names.h"
#include "libsvc/model/values/numbers.h"
#include "libsvc/model/values/size.h"

namespace svc {

namespace {

using enum InstanceStatus;

constexpr std::array<EnumName<InstanceStatus>, 8> instance_status_names{{{error, "error"},
                                                                         {unknown, "unknown"},
                                                                         {created, "created"},
                                                                         {prepared, "prepared"},
                                                                         {started, "started"},
                                                                         {running, "running"},
                                                                         {stopped, "stopped"},
                                                                         {deleted, "deleted"}}};

constexpr std::array<EnumName<InstanceType>, 3> type_names{
    {{InstanceType::unknown, "unknown"}, {InstanceType::regular, "regular"}, {InstanceType::base, "base"}}};

struct Move {
    InstanceStatus from, to;
};
// `deleted` is final: the record is removed. A failed or stopped instance may be started again.
constexpr std::array<Move, 20> moves{
    {{created, prepared}, {prepared, started}, {stopped, started}, {error, started},   {started, running},
     {started, stopped},  {running, stopped},  {unknown, error},   {created, error},   {prepared, error},
     {started, error},    {running, error},    {stopped, error},   {error, deleted},   {unknown, deleted},
     {created, deleted},  {prepared, deleted}, {started, deleted}, {running, deleted}, {stopped, deleted}}};

struct TypeRow {
    std::string_view name;
    int cpus;
    int gpu_slots;
};
constexpr std::array<TypeRow, 10> instance_types{{{"a2.3", 2, 0},
                                                  {"a4.3", 4, 0},
                                                  {"a6.3", 6, 0},
                                                  {"a8.3", 8, 0},
                                                  {"a10.3", 10, 0},
                                                  {"g2.3", 2, 1},
                                                  {"g4.3", 4, 1},
                                                  {"g6.3", 6, 1},
                                                  {"g8.3", 8, 1},
                                                  {"g10.3", 10, 1}}};
constexpr std::uint64_t instance_type_bytes = std::uint64_t{3} << 30;  // memory and disk of every type

std::uint16_t port_of(const JsonFields& fields, std::string_view key, std::int64_t value) {
    if (value < 1 || value > 65535) throw_invalid(fields.path_of(key), "must be from 1 to 65535");
    return static_cast<std::uint16_t>(value);
}

std::vector<std::string> protocols_of(const JsonFields& fields) {
    std::vector<std::string> result;
    for (std::string& protocol : fields.strings("protocols").value_or(std::vector<std::string>())) {
        if (protocol != "tcp" && protocol != "udp")
            throw_invalid(fields.path_of("protocols"), "must be tcp or udp");
        if (std::find(result.begin(), result.end(), protocol) == result.end())
            result.push_back(std::move(protocol));
    }
    if (result.empty())
        throw Error(ErrorCode::invalid_argument, fields.path_of("protocols") + " is required");
    return result;
}

bool overlap(const ServiceEntry& a, const ServiceEntry& b) {
    const auto last = [](const ServiceEntry& entry) { return std::max(entry.port, entry.port_end); };
    if (a.port > last(b) || b.port > last(a)) return false;
    return std::any_of(a.protocols.begin(), a.protocols.end(), [&](const std::string& protocol) {
        return std::find(b.protocols.begin(), b.protocols.end(), protocol) != b.protocols.end();
    });
}

Json config_to_json(const InstanceConfig& config) {
    Json result = Json::object({{"platform", config.platform},
                                {"boot_package", config.boot_package},
                                {"boot_activity", config.boot_activity},
                                {"metrics_server", config.metrics_server}});
    if (!config.features.empty()) result.set("features", config.features);
    if (config.disable_watchdog) result.set("disable_watchdog", true);
    if (config.devmode) result.set("devmode", true);
    if (config.delete_protected) result.set("security", Json::object({{"delete_protected", true}}));
    return result;
}

Json stored_logs_to_json(const std::vector<StoredLog>& logs) {
    JsonArray names;
    for (const StoredLog& log : logs) names.emplace_back(log.name);
    return names.empty() ? Json() : Json(std::move(names));
}

void add_lifetime(Json& record, const Lifetime& lifetime) {
    if (lifetime.expires_at != Time{}) record.set("expires_at", to_unix_seconds(lifetime.expires_at));
    if (lifetime.idle_after == Duration::zero()) return;
    record.set("idle_after", format_duration(lifetime.idle_after));
    record.set("used_at", to_unix_seconds(lifetime.used_at));
}

Json services_to_json(const std::vector<ServiceEntry>& services) {
    JsonArray result;
    for (const ServiceEntry& service : services) result.push_back(service.to_json());
    return result;
}

}  // namespace

std::string_view to_text(InstanceStatus status) {
    return enum_text<InstanceStatus>(instance_status_names, status);
}

std::optional<InstanceStatus> parse_instance_status(std::string_view text) {
    return enum_value<InstanceStatus>(instance_status_names, text);
}

bool may_move(InstanceStatus from, InstanceStatus to) {
    return std::any_of(moves.begin(), moves.end(),
                       [&](const Move& m) { return m.from == from && m.to == to; });
}

std::string_view to_text(InstanceType type) {
    return enum_text<InstanceType>(type_names, type);
}

// A node port in a request is ignored: the service chooses it.
ServiceEntry ServiceEntry::from_json(const JsonFields& fields) {
    ServiceEntry entry;
    entry.name = fields.string("name").value_or("");
    check_service_name(fields.path_of("name"), entry.name);
    entry.port = port_of(fields, "port", fields.require_int("port"));
    if (const auto last = fields.integer("port_end"); last && *last != 0) {
        entry.port_end = port_of(fields, "port_end", *last);
        if (entry.port_end < entry.port) throw_invalid(fields.path_of("port_end"), "must not be below port");
    }
    entry.protocols = protocols_of(fields);
    entry.expose = fields.boolean("expose").value_or(false);
    return entry;
}

Json ServiceEntry::to_json() const {
    Json result = Json::object({{"name", name}, {"port", int{port}}});
    if (port_end != 0) result.set("port_end", int{port_end});
    result.set("node_port", int{node_port});
    if (node_port_end != 0) result.set("node_port_end", int{node_port_end});
    result.set("protocols", JsonArray(protocols.begin(), protocols.end()));
    result.set("expose", expose);
    return result;
}

void check_services(const std::vector<ServiceEntry>& services) {
    for (std::size_t i = 0; i < services.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (overlap(services[i], services[j]))
                throw_invalid("services[" + std::to_string(i) + "].port",
                              "overlaps with services[" + std::to_string(j) + "]");
}

Json InstanceResources::to_json() const {
    Json result = Json::object();
    if (cpus > 0) result.set("cpus", number_json(cpus));
    if (memory > 0) result.set("memory", format_size(memory));
    if (disk > 0) result.set("disk-size", format_size(disk));
    if (gpu_slots > 0) result.set("gpu-slots", gpu_slots);
    return result;
}

std::optional<InstanceResources> instance_type_resources(std::string_view name) {
    for (const TypeRow& row : instance_types)
        if (row.name == name)
            return InstanceResources{double(row.cpus), instance_type_bytes, instance_type_bytes,
                                     row.gpu_slots};
    return std::nullopt;
}

std::vector<std::string> instance_type_names() {
    std::vector<std::string> names;
    for (const TypeRow& row : instance_types) names.emplace_back(row.name);
    return names;
}

std::size_t InternHash<InstanceConfig>::operator()(const InstanceConfig& config) const {
    const std::hash<std::string> hash;
    return mixed_hash(mixed_hash(hash(config.platform), hash(config.boot_package)),
                      mixed_hash(hash(config.metrics_server), config.devmode ? 1 : 0));
}

std::size_t InternHash<AppSetup>::operator()(const AppSetup& app) const {
    const std::hash<std::string> hash;
    return mixed_hash(mixed_hash(hash(app.name), hash(app.boot_package)), hash(app.boot_activity));
}

std::size_t InternHash<ReadinessCheck>::operator()(const ReadinessCheck& ready) const {
    const std::hash<std::string> hash;
    return mixed_hash(mixed_hash(hash(ready.file), hash(ready.command)), ready.port);
}

std::size_t InternHash<PackageRef>::operator()(const PackageRef& package) const {
    const std::hash<std::string> hash;
    return mixed_hash(mixed_hash(hash(package.name), hash(package.fingerprint)), package.fetch ? 1 : 0);
}

bool is_paused(const Instance& instance) {
    return instance.paused && instance.status == InstanceStatus::running;
}

std::string_view instance_id_in(std::string_view name) {
    constexpr std::string_view prefix = "svc-";
    return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

Json to_json(const Instance& instance) {
    Json result = Json::object({
        {"id", instance.id.str()},
        {"name", instance.name()},
        {"type", to_text(instance.type)},
        {"status_code", static_cast<int>(instance.status)},
        {"status", to_text(instance.status)},
        {"node", *instance.node},
        {"app_id", *instance.app_id},
        {"app_version", instance.app_version},
        {"image_id", *instance.image_id},
        {"image_version", instance.image_version},
        {"created_at", to_unix_seconds(instance.created_at)},
        {"address", instance.address},
        {"public_address", *instance.public_address},
        {"services", services_to_json(instance.services)},
        {"stored_logs", stored_logs_to_json(instance.stored_logs)},
        {"error_message", *instance.error_message},
        {"config", config_to_json(instance.config)},
        {"resources", instance.resources.to_json()},
        {"architecture", *instance.architecture},
        {"tags", JsonArray(instance.tags.begin(), instance.tags.end())},
    });
    if (!instance.app_name.empty()) result.set("app_name", *instance.app_name);
    if (is_paused(instance)) result.set("paused", true);
    add_lifetime(result, instance.lifetime);
    return result;
}

}  // namespace svc
