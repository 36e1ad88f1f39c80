#include "libsvc/runtime/simulated/simulated_container.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "libsvc/base/enum_table.h"

namespace svc {

namespace {

constexpr std::array<EnumName<ContainerState>, 3> state_names{{{ContainerState::created, "created"},
                                                               {ContainerState::running, "running"},
                                                               {ContainerState::stopped, "stopped"}}};

}  // namespace

Json to_json(const SimulatedContainer& container) {
    JsonArray layers(container.layers.begin(), container.layers.end());
    Json json = Json::object({{"state", enum_text<ContainerState>(state_names, container.state)},
                              {"layers", Json::array(std::move(layers))},
                              {"cpus", container.limits.cpus},
                              {"memory", container.limits.memory_bytes},
                              {"disk", container.limits.disk_bytes},
                              {"processes", container.limits.processes}});
    if (!container.node.empty()) json.set("node", container.node);
    if (container.frozen) json.set("frozen", true);
    if (container.started_at) json.set("started_at", to_rfc3339(*container.started_at));
    return json;
}

SimulatedContainer simulated_container_from_json(const Json& json) {
    const JsonFields fields(json);
    SimulatedContainer container;
    container.state = enum_value<ContainerState>(state_names, fields.require_string("state"))
                          .value_or(ContainerState::stopped);
    container.layers = fields.strings("layers").value_or(std::vector<std::string>());
    const auto count = [&](std::string_view key) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(0, fields.integer(key).value_or(0)));
    };
    container.limits = {fields.number("cpus").value_or(0), count("memory"), count("disk"),
                        static_cast<std::uint32_t>(count("processes"))};
    container.node = fields.string("node").value_or("");
    container.frozen = fields.boolean("frozen").value_or(false);
    if (const auto started = fields.string("started_at")) container.started_at = from_rfc3339(*started);
    return container;
}

ContainerInfo to_info(const std::string& id, const SimulatedContainer& container) {
    ContainerInfo info;
    info.id = id;
    info.node = container.node;
    info.state = container.state;
    info.frozen = container.frozen;
    info.started_at = container.started_at;
    if (container.state == ContainerState::running) info.agent_state = "running";
    return info;
}

}  // namespace svc
