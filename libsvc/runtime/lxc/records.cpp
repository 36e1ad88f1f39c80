#include "libsvc/runtime/lxc/records.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr int spec_schema = 1;

Json to_json(const PortForward& forward) {
    return Json::object({{"port", unsigned{forward.port}},
                         {"node_port", unsigned{forward.node_port}},
                         {"count", unsigned{forward.count}},
                         {"tcp", forward.tcp},
                         {"udp", forward.udp},
                         {"exposed", forward.exposed}});
}

PortForward forward_from_json(const JsonFields& fields) {
    PortForward forward;
    forward.port = static_cast<std::uint16_t>(fields.require_int("port"));
    forward.node_port = static_cast<std::uint16_t>(fields.require_int("node_port"));
    forward.count = static_cast<std::uint16_t>(fields.require_int("count"));
    forward.tcp = fields.boolean("tcp").value_or(false);
    forward.udp = fields.boolean("udp").value_or(false);
    forward.exposed = fields.boolean("exposed").value_or(false);
    return forward;
}

Json to_json(const AllowedEndpoint& endpoint) {
    return Json::object({{"address", endpoint.address},
                         {"port", unsigned{endpoint.port}},
                         {"tcp", endpoint.tcp},
                         {"udp", endpoint.udp}});
}

AllowedEndpoint endpoint_from_json(const JsonFields& fields) {
    return {fields.require_string("address"), static_cast<std::uint16_t>(fields.require_int("port")),
            fields.boolean("tcp").value_or(false), fields.boolean("udp").value_or(false)};
}

Json to_json(const ProcessId& process) {
    return Json::object({{"pid", process.pid}, {"start_ticks", process.start_ticks}});
}

ProcessId process_from_json(const std::optional<JsonFields>& fields) {
    if (!fields) return {};
    return {static_cast<pid_t>(fields->require_int("pid")),
            static_cast<std::uint64_t>(fields->require_int("start_ticks"))};
}

std::string signal_text(int number) {
    const char* name = sigabbrev_np(number);
    return name == nullptr ? fmt::format("signal {}", number)
                           : fmt::format("signal {} (SIG{})", number, name);
}

}  // namespace

Json to_json(const StoredSpec& stored) {
    const ContainerSpec& spec = stored.spec;
    Json layers = Json::array();
    for (const std::string& layer : spec.layers) layers.push_back(layer);
    Json forwards = Json::array();
    for (const PortForward& forward : spec.forwards) forwards.push_back(to_json(forward));
    Json endpoints = Json::array();
    for (const AllowedEndpoint& endpoint : spec.allowed_endpoints) endpoints.push_back(to_json(endpoint));
    const JsonArray placed(stored.placed.begin(), stored.placed.end());
    return Json::object({{"schema", spec_schema},
                         {"id", spec.id},
                         {"name", spec.name},
                         {"layers", std::move(layers)},
                         {"cpus", spec.cpus},
                         {"memory_bytes", spec.memory_bytes},
                         {"disk_bytes", spec.disk_bytes},
                         {"processes", spec.processes},
                         {"address", spec.address},
                         {"forwards", std::move(forwards)},
                         {"allowed_endpoints", std::move(endpoints)},
                         {"init", spec.init},
                         {"run_agent", spec.run_agent},
                         {"boot_by_agent", spec.boot_by_agent},
                         {"pin_cpus", spec.pin_cpus},
                         {"gpus", JsonArray(spec.gpus.begin(), spec.gpus.end())},
                         {"android", spec.android},
                         {"placed", Json::array(placed)},
                         {"project", stored.project}});
}

StoredSpec stored_spec_from_json(const Json& json) {
    const JsonFields fields(json);
    if (const auto schema = fields.require_int("schema"); schema != spec_schema)
        throw Error(
            ErrorCode::unsupported,
            fmt::format("it has schema {}, this version of the program knows {}", schema, spec_schema));
    StoredSpec stored;
    ContainerSpec& spec = stored.spec;
    spec.id = fields.require_string("id");
    spec.name = fields.require_string("name");
    spec.layers = fields.strings("layers").value_or(std::vector<std::string>{});
    spec.cpus = fields.number("cpus").value_or(0);
    spec.memory_bytes = static_cast<std::uint64_t>(fields.integer("memory_bytes").value_or(0));
    spec.disk_bytes = static_cast<std::uint64_t>(fields.integer("disk_bytes").value_or(0));
    spec.processes = static_cast<std::uint32_t>(fields.integer("processes").value_or(0));
    spec.address = fields.require_string("address");
    for (const JsonFields& forward : fields.objects("forwards").value_or(std::vector<JsonFields>{}))
        spec.forwards.push_back(forward_from_json(forward));
    for (const JsonFields& endpoint : fields.objects("allowed_endpoints").value_or(std::vector<JsonFields>{}))
        spec.allowed_endpoints.push_back(endpoint_from_json(endpoint));
    spec.init = fields.string("init").value_or("");
    spec.run_agent = fields.boolean("run_agent").value_or(true);
    spec.boot_by_agent = fields.boolean("boot_by_agent").value_or(false);
    spec.pin_cpus = fields.boolean("pin_cpus").value_or(false);
    spec.gpus = fields.strings("gpus").value_or(std::vector<std::string>{});
    spec.android = fields.boolean("android").value_or(false);
    stored.placed = fields.strings("placed").value_or(std::vector<std::string>{});
    stored.project = static_cast<std::uint32_t>(fields.integer("project").value_or(0));
    return stored;
}

bool same_container(const ContainerSpec& a, const ContainerSpec& b) {
    return to_json(StoredSpec{a, 0, {}}) == to_json(StoredSpec{b, 0, {}});
}

Json to_json(const RunRecord& run) {
    Json json = Json::object({{"schema", 1},
                              {"monitor", to_json(run.monitor)},
                              {"init", to_json(run.init)},
                              {"agent", to_json(run.agent)},
                              {"stopped", run.stopped},
                              {"once", run.once}});
    if (run.started_at) json.set("started_at", to_rfc3339(*run.started_at));
    return json;
}

RunRecord run_record_from_json(const Json& json) {
    const JsonFields fields(json);
    RunRecord run;
    run.monitor = process_from_json(fields.object("monitor"));
    run.init = process_from_json(fields.object("init"));
    run.agent = process_from_json(fields.object("agent"));
    run.stopped = fields.boolean("stopped").value_or(false);
    run.once = fields.boolean("once").value_or(false);
    if (const auto text = fields.string("started_at")) run.started_at = from_rfc3339(*text);
    return run;
}

ExitCause describe_exit(std::optional<int> lxc_status, std::uint64_t oom_kills) {
    if (!lxc_status) return {false, "the monitor of the container was killed"};
    const std::string_view memory = oom_kills > 0 ? " (out of memory)" : "";
    const int number = (*lxc_status >> 8) & 0xff;
    if (!has_run(*lxc_status)) return {false, "init could not be started"};
    if ((*lxc_status & 0x7f) == 0)
        return {number == 0, fmt::format("init exited with status {}{}", number, number == 0 ? "" : memory),
                true};
    // reboot() kills the init of a pid namespace with SIGINT for a shutdown; a restart keeps the monitor.
    if (number == SIGINT) return {true, "the guest shut down", true};
    return {false, fmt::format("init was killed by {}{}", signal_text(number), memory), true};
}

// liblxc returns 1 for its own failures, which is neither an exit code << 8 nor a signal.
bool has_run(int lxc_status) {
    return lxc_status >= 0 && ((lxc_status & 0x7f) == 0 || lxc_status >> 8 != 0);
}

int exit_code_of(int lxc_status) {
    const int number = (lxc_status >> 8) & 0xff;
    return (lxc_status & 0x7f) == 0 ? number : 128 + number;
}

std::string first_lxc_error(std::string_view log) {
    for (const std::string& line : split(log, '\n')) {
        if (line.find(" ERROR ") == std::string::npos) continue;
        const std::size_t message = line.find(" - ");
        if (message == std::string::npos) continue;
        const std::size_t text = line.find(" - ", message + 3);  // after "file - source:function:line"
        return line.substr(text == std::string::npos ? message + 3 : text + 3);
    }
    return "";
}

}  // namespace svc::lxc
