#include "libsvc/cluster/node/codecs.h"

#include <array>

#include "libsvc/base/digest.h"
#include "libsvc/base/enum_table.h"

namespace svc::node {

namespace {

constexpr std::array<EnumName<ErrorCode>, 12> code_names{
    {{ErrorCode::invalid_argument, "invalid_argument"},
     {ErrorCode::unauthenticated, "unauthenticated"},
     {ErrorCode::forbidden, "forbidden"},
     {ErrorCode::not_found, "not_found"},
     {ErrorCode::conflict, "conflict"},
     {ErrorCode::busy, "busy"},
     {ErrorCode::precondition_failed, "precondition_failed"},
     {ErrorCode::exhausted, "exhausted"},
     {ErrorCode::unavailable, "unavailable"},
     {ErrorCode::unsupported, "unsupported"},
     {ErrorCode::cancelled, "cancelled"},
     {ErrorCode::internal, "internal"}}};

constexpr std::array<EnumName<ContainerState>, 4> state_names{{{ContainerState::created, "created"},
                                                               {ContainerState::running, "running"},
                                                               {ContainerState::stopped, "stopped"},
                                                               {ContainerState::unreadable, "unreadable"}}};

constexpr std::array<EnumName<RuntimeEvent::Kind>, 2> event_names{
    {{RuntimeEvent::Kind::stopped, "stopped"}, {RuntimeEvent::Kind::agent_died, "agent_died"}}};

template <class E>
E require_name(const JsonFields& fields, std::string_view key, std::span<const EnumName<E>> table) {
    const auto value = enum_value<E>(table, fields.require_string(key));
    if (!value) throw_invalid(fields.path_of(key), "is not known");
    return *value;
}

template <class T>
T number_of(const JsonFields& fields, std::string_view key) {
    return static_cast<T>(fields.integer(key).value_or(0));
}

std::string text_in(const JsonFields& fields, std::string_view key) {
    return fields.string(key).value_or("");
}

bool flag_of(const JsonFields& fields, std::string_view key) {
    return fields.boolean(key).value_or(false);
}

template <class Read>
auto all_from_json(const JsonFields& fields, std::string_view key, Read&& read) {
    std::vector<decltype(read(fields))> all;
    for (const JsonFields& each : fields.objects(key).value_or(std::vector<JsonFields>()))
        all.push_back(read(each));
    return all;
}

Json json_of(const PlacedFile& file) {
    return Json::object({{"path", file.path}, {"content", base64_encode(file.content)}, {"mode", file.mode}});
}

PlacedFile placed_from_json(const JsonFields& fields) {
    return {fields.require_string("path"), base64_decode(text_in(fields, "content")),
            number_of<unsigned>(fields, "mode")};
}

Json json_of(const PortForward& forward) {
    return Json::object({{"port", unsigned{forward.port}},
                         {"node_port", unsigned{forward.node_port}},
                         {"count", unsigned{forward.count}},
                         {"tcp", forward.tcp},
                         {"udp", forward.udp},
                         {"exposed", forward.exposed}});
}

PortForward port_forward_from_json(const JsonFields& fields) {
    return {number_of<std::uint16_t>(fields, "port"),
            number_of<std::uint16_t>(fields, "node_port"),
            number_of<std::uint16_t>(fields, "count"),
            flag_of(fields, "tcp"),
            flag_of(fields, "udp"),
            flag_of(fields, "exposed")};
}

Json json_of(const AllowedEndpoint& endpoint) {
    return Json::object({{"address", endpoint.address},
                         {"port", unsigned{endpoint.port}},
                         {"tcp", endpoint.tcp},
                         {"udp", endpoint.udp}});
}

AllowedEndpoint allowed_from_json(const JsonFields& fields) {
    return {fields.require_string("address"), number_of<std::uint16_t>(fields, "port"),
            flag_of(fields, "tcp"), flag_of(fields, "udp")};
}

Json json_of(const TrafficCount& count) {
    return Json::object({{"bytes", count.bytes},
                         {"packets", count.packets},
                         {"errors", count.errors},
                         {"dropped", count.dropped}});
}

TrafficCount traffic_from_json(const std::optional<JsonFields>& fields) {
    if (!fields) return {};
    return {number_of<std::uint64_t>(*fields, "bytes"), number_of<std::uint64_t>(*fields, "packets"),
            number_of<std::uint64_t>(*fields, "errors"), number_of<std::uint64_t>(*fields, "dropped")};
}

Json json_of(const NetworkUsage& usage) {
    return Json::object(
        {{"device", usage.device}, {"received", json_of(usage.received)}, {"sent", json_of(usage.sent)}});
}

NetworkUsage network_from_json(const JsonFields& fields) {
    return {fields.require_string("device"), traffic_from_json(fields.object("received")),
            traffic_from_json(fields.object("sent"))};
}

Json json_of(const MachineGpu& gpu) {
    return Json::object({{"type", gpu.type},
                         {"pci_address", gpu.pci_address},
                         {"render_name", gpu.render_name},
                         {"numa_node", gpu.numa_node}});
}

MachineGpu gpu_from_json(const JsonFields& fields) {
    return {fields.require_string("type"), text_in(fields, "pci_address"), text_in(fields, "render_name"),
            static_cast<int>(fields.integer("numa_node").value_or(-1))};
}

template <class T>
JsonArray all_to_json(const std::vector<T>& values) {
    JsonArray all;
    for (const T& value : values) all.push_back(json_of(value));
    return all;
}

template <class T>
void set_if_known(Json& json, const char* key, const std::optional<T>& value) {
    if (value) json.set(key, *value);
}

std::optional<std::uint64_t> count_of(const JsonFields& fields, std::string_view key) {
    const auto value = fields.integer(key);
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
}

}  // namespace

Json to_json(const std::vector<std::string>& words) {
    return Json::array(JsonArray(words.begin(), words.end()));
}

Json to_json(const ContainerSpec& spec) {
    return Json::object({{"id", spec.id},
                         {"node", spec.node},
                         {"name", spec.name},
                         {"layers", to_json(spec.layers)},
                         {"cpus", spec.cpus},
                         {"memory_bytes", spec.memory_bytes},
                         {"disk_bytes", spec.disk_bytes},
                         {"processes", spec.processes},
                         {"address", spec.address},
                         {"forwards", all_to_json(spec.forwards)},
                         {"allowed_endpoints", all_to_json(spec.allowed_endpoints)},
                         {"files", all_to_json(spec.files)},
                         {"init", spec.init},
                         {"run_agent", spec.run_agent},
                         {"boot_by_agent", spec.boot_by_agent},
                         {"pin_cpus", spec.pin_cpus},
                         {"gpus", to_json(spec.gpus)},
                         {"android", spec.android}});
}

ContainerSpec spec_from_json(const Json& json) {
    const JsonFields fields(json);
    ContainerSpec spec;
    spec.id = fields.require_string("id");
    spec.node = text_in(fields, "node");
    spec.name = text_in(fields, "name");
    spec.layers = fields.strings("layers").value_or(std::vector<std::string>());
    spec.cpus = fields.number("cpus").value_or(0);
    spec.memory_bytes = number_of<std::uint64_t>(fields, "memory_bytes");
    spec.disk_bytes = number_of<std::uint64_t>(fields, "disk_bytes");
    spec.processes = number_of<std::uint32_t>(fields, "processes");
    spec.address = text_in(fields, "address");
    spec.forwards = all_from_json(fields, "forwards", port_forward_from_json);
    spec.allowed_endpoints = all_from_json(fields, "allowed_endpoints", allowed_from_json);
    spec.files = all_from_json(fields, "files", placed_from_json);
    spec.init = text_in(fields, "init");
    spec.run_agent = flag_of(fields, "run_agent");
    spec.boot_by_agent = flag_of(fields, "boot_by_agent");
    spec.pin_cpus = flag_of(fields, "pin_cpus");
    spec.gpus = fields.strings("gpus").value_or(std::vector<std::string>());
    spec.android = flag_of(fields, "android");
    return spec;
}

Json to_json(const ContainerInfo& info) {
    Json json = Json::object({{"id", info.id},
                              {"node", info.node},
                              {"state", enum_text<ContainerState>(state_names, info.state)},
                              {"frozen", info.frozen},
                              {"agent_state", info.agent_state},
                              {"fault", info.fault},
                              {"specification_lost", info.specification_lost}});
    if (info.started_at) json.set("started_at", to_rfc3339(*info.started_at));
    return json;
}

// Without the pid of init, which means nothing on another machine.
ContainerInfo info_from_json(const Json& json) {
    const JsonFields fields(json);
    ContainerInfo info;
    info.id = fields.require_string("id");
    info.node = text_in(fields, "node");
    info.state = require_name<ContainerState>(fields, "state", state_names);
    info.frozen = flag_of(fields, "frozen");
    info.agent_state = text_in(fields, "agent_state");
    info.fault = text_in(fields, "fault");
    info.specification_lost = flag_of(fields, "specification_lost");
    if (const auto started = fields.string("started_at")) info.started_at = from_rfc3339(*started);
    return info;
}

Json to_json(const ContainerUsage& usage) {
    Json json = Json::object({{"id", usage.id}, {"network", all_to_json(usage.network)}});
    set_if_known(json, "cpu_user_seconds", usage.cpu_user_seconds);
    set_if_known(json, "cpu_system_seconds", usage.cpu_system_seconds);
    set_if_known(json, "memory_bytes", usage.memory_bytes);
    set_if_known(json, "memory_limit_bytes", usage.memory_limit_bytes);
    set_if_known(json, "memory_peak_bytes", usage.memory_peak_bytes);
    set_if_known(json, "oom_kills", usage.oom_kills);
    set_if_known(json, "processes", usage.processes);
    set_if_known(json, "process_limit", usage.process_limit);
    set_if_known(json, "disk_bytes", usage.disk_bytes);
    set_if_known(json, "disk_limit_bytes", usage.disk_limit_bytes);
    return json;
}

ContainerUsage usage_from_json(const Json& json) {
    const JsonFields fields(json);
    ContainerUsage usage;
    usage.id = fields.require_string("id");
    usage.cpu_user_seconds = fields.number("cpu_user_seconds");
    usage.cpu_system_seconds = fields.number("cpu_system_seconds");
    usage.memory_bytes = count_of(fields, "memory_bytes");
    usage.memory_limit_bytes = count_of(fields, "memory_limit_bytes");
    usage.memory_peak_bytes = count_of(fields, "memory_peak_bytes");
    usage.oom_kills = count_of(fields, "oom_kills");
    usage.processes = count_of(fields, "processes");
    usage.process_limit = count_of(fields, "process_limit");
    usage.disk_bytes = count_of(fields, "disk_bytes");
    usage.disk_limit_bytes = count_of(fields, "disk_limit_bytes");
    usage.network = all_from_json(fields, "network", network_from_json);
    return usage;
}

Json to_json(const Capacity& capacity) {
    return Json::object({{"runtime", capacity.runtime},
                         {"cpus", capacity.cpus},
                         {"memory_bytes", capacity.memory_bytes},
                         {"disk_bytes", capacity.disk_bytes},
                         {"architecture", capacity.architecture},
                         {"address", capacity.address},
                         {"public_address", capacity.public_address},
                         {"forwards_from", capacity.forwards_from},
                         {"bridge", capacity.bridge},
                         {"subnet", capacity.subnet},
                         {"bridge_mtu", capacity.bridge_mtu},
                         {"storage_pool", capacity.storage_pool},
                         {"disk_limit_enforced", capacity.disk_limit_enforced},
                         {"gpus", all_to_json(capacity.gpus)},
                         {"android_fault", capacity.android_fault},
                         {"details", capacity.details}});
}

Capacity capacity_from_json(const Json& json) {
    const JsonFields fields(json);
    Capacity capacity;
    capacity.runtime = text_in(fields, "runtime");
    capacity.cpus = number_of<std::uint32_t>(fields, "cpus");
    capacity.memory_bytes = number_of<std::uint64_t>(fields, "memory_bytes");
    capacity.disk_bytes = number_of<std::uint64_t>(fields, "disk_bytes");
    capacity.architecture = text_in(fields, "architecture");
    capacity.address = text_in(fields, "address");
    capacity.public_address = text_in(fields, "public_address");
    capacity.forwards_from = text_in(fields, "forwards_from");
    capacity.bridge = text_in(fields, "bridge");
    capacity.subnet = text_in(fields, "subnet");
    capacity.bridge_mtu = number_of<std::uint32_t>(fields, "bridge_mtu");
    capacity.storage_pool = text_in(fields, "storage_pool");
    capacity.disk_limit_enforced = flag_of(fields, "disk_limit_enforced");
    capacity.gpus = all_from_json(fields, "gpus", gpu_from_json);
    capacity.android_fault = fields.string("android_fault").value_or("its version knows no Android guests");
    if (const Json* details = fields.raw("details")) capacity.details = *details;
    return capacity;
}

Json to_json(const RuntimeNode& node) {
    return Json::object({{"name", node.name},
                         {"capacity", to_json(node.capacity)},
                         {"online", node.online},
                         {"fault", node.fault},
                         {"failing", node.failing},
                         {"evacuated", node.evacuated},
                         {"managed", node.managed}});
}

RuntimeNode runtime_node_from_json(const Json& json) {
    const JsonFields fields(json);
    RuntimeNode node;
    node.name = text_in(fields, "name");
    if (const Json* capacity = fields.raw("capacity")) node.capacity = capacity_from_json(*capacity);
    node.online = flag_of(fields, "online");
    node.fault = text_in(fields, "fault");
    node.failing = flag_of(fields, "failing");
    node.evacuated = flag_of(fields, "evacuated");
    node.managed = fields.boolean("managed").value_or(true);
    return node;
}

Json to_json(const ExecSpec& spec) {
    JsonMembers environment;
    for (const auto& [name, value] : spec.environment) environment.emplace_back(name, value);
    return Json::object({{"command", to_json(spec.command)},
                         {"environment", Json::object(std::move(environment))},
                         {"terminal", spec.terminal},
                         {"width", spec.width},
                         {"height", spec.height}});
}

ExecSpec exec_from_json(const Json& json) {
    const JsonFields fields(json);
    ExecSpec spec;
    spec.command = fields.strings("command").value_or(std::vector<std::string>());
    spec.environment = fields.string_map("environment").value_or(std::map<std::string, std::string>());
    spec.terminal = flag_of(fields, "terminal");
    spec.width = number_of<unsigned>(fields, "width");
    spec.height = number_of<unsigned>(fields, "height");
    return spec;
}

Json to_json(const RuntimeEvent& event) {
    return Json::object({{"kind", enum_text<RuntimeEvent::Kind>(event_names, event.kind)},
                         {"id", event.id},
                         {"clean", event.clean},
                         {"reason", event.reason}});
}

RuntimeEvent event_from_json(const Json& json) {
    const JsonFields fields(json);
    return {require_name<RuntimeEvent::Kind>(fields, "kind", event_names), fields.require_string("id"),
            flag_of(fields, "clean"), text_in(fields, "reason")};
}

Json to_json(const Error& error) {
    return Json::object({{"code", enum_text<ErrorCode>(code_names, error.code())}, {"error", error.what()}});
}

Error error_from_json(const Json& json) {
    const JsonFields fields(json);
    const auto code = enum_value<ErrorCode>(code_names, text_in(fields, "code"));
    return {code.value_or(ErrorCode::internal), text_in(fields, "error")};
}

}  // namespace svc::node
