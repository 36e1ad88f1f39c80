#include "libsvc/model/instances/instance.h"

#include <algorithm>
#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json_text.h"
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

void write_config(JsonText& out, const InstanceConfig& config) {
    out.open_object()
        .member("platform", config.platform)
        .member("boot_package", config.boot_package)
        .member("boot_activity", config.boot_activity)
        .member("metrics_server", config.metrics_server);
    if (!config.features.empty()) out.member("features", config.features);
    if (config.disable_watchdog) out.member("disable_watchdog", true);
    if (config.devmode) out.member("devmode", true);
    if (config.delete_protected)
        out.key("security").open_object().member("delete_protected", true).close_object();
    out.close_object();
}

void write_texts(JsonText& out, const std::vector<std::string>& texts) {
    out.open_array();
    for (const std::string& text : texts) out.value(text);
    out.close_array();
}

void write_lifetime(JsonText& out, const Lifetime& lifetime) {
    if (lifetime.expires_at != Time{}) out.member("expires_at", to_unix_seconds(lifetime.expires_at));
    if (lifetime.idle_after == Duration::zero()) return;
    out.member("idle_after", format_duration(lifetime.idle_after));
    out.member("used_at", to_unix_seconds(lifetime.used_at));
}

template <class Value>
Json parsed(const Value& value) {
    std::string text;
    JsonText out(text);
    value.write(out);
    return Json::parse(text);
}

void write_log_names(JsonText& out, const std::vector<StoredLog>& logs) {
    if (logs.empty()) {
        out.value(Json());
        return;
    }
    out.open_array();
    for (const StoredLog& log : logs) out.value(log.name);
    out.close_array();
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

void ServiceEntry::write(JsonText& out) const {
    out.open_object().member("name", name).member("port", port);
    if (port_end != 0) out.member("port_end", port_end);
    out.member("node_port", node_port);
    if (node_port_end != 0) out.member("node_port_end", node_port_end);
    write_texts(out.key("protocols"), protocols);
    out.member("expose", expose).close_object();
}

Json ServiceEntry::to_json() const {
    return parsed(*this);
}

void check_services(const std::vector<ServiceEntry>& services) {
    for (std::size_t i = 0; i < services.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (overlap(services[i], services[j]))
                throw_invalid("services[" + std::to_string(i) + "].port",
                              "overlaps with services[" + std::to_string(j) + "]");
}

void InstanceResources::write(JsonText& out) const {
    out.open_object();
    if (cpus > 0) out.member("cpus", number_json(cpus));
    if (memory > 0) out.member("memory", format_size(memory));
    if (disk > 0) out.member("disk-size", format_size(disk));
    if (gpu_slots > 0) out.member("gpu-slots", gpu_slots);
    out.close_object();
}

Json InstanceResources::to_json() const {
    return parsed(*this);
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

void append_json(std::string& text, const Instance& instance) {
    JsonText out(text);
    out.open_object()
        .member("id", instance.id.str())
        .member("name", instance.name())
        .member("type", to_text(instance.type))
        .member("status_code", static_cast<int>(instance.status))
        .member("status", to_text(instance.status))
        .member("node", *instance.node)
        .member("app_id", *instance.app_id)
        .member("app_version", instance.app_version)
        .member("image_id", *instance.image_id)
        .member("image_version", instance.image_version)
        .member("created_at", to_unix_seconds(instance.created_at))
        .member("address", instance.address)
        .member("public_address", *instance.public_address);
    out.key("services").open_array();
    for (const ServiceEntry& service : instance.services) service.write(out);
    write_log_names(out.close_array().key("stored_logs"), instance.stored_logs);
    write_config(out.member("error_message", *instance.error_message).key("config"), *instance.config);
    instance.resources.write(out.key("resources"));
    write_texts(out.member("architecture", *instance.architecture).key("tags"), *instance.tags);
    if (!instance.app_name.empty()) out.member("app_name", *instance.app_name);
    if (is_paused(instance)) out.member("paused", true);
    if (instance.pooled) out.member("pooled", true);
    write_lifetime(out, instance.lifetime);
    out.close_object();
}

}  // namespace svc
