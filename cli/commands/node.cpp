#include <algorithm>

#include "cli/actions/object_lookup.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/views/instance_view.h"

namespace svc::cli {
namespace {

Json node_value(const Json& record) {
    Json value = Json::object();
    copy_members(record, value, {"name", "managed", "status", "unschedulable", "architecture"});
    value.set("disk", Json::object({{"pool", text_of(record, "storage_pool")},
                                    {"size", text_of(record, "disk_size")}}));
    value.set("network", Json::object({{"address", text_of(record, "address")},
                                       {"bridge-mtu", number_of(record, "network_bridge_mtu")}}));
    value.set("gpus", Json(items_of(record, "gpus")));
    Json config = Json::object({{"public-address", text_of(record, "public_address")}});
    for (const auto& [shown, name] : std::initializer_list<std::pair<std::string, std::string_view>>{
             {"cpus", "cpus"},
             {"cpu-allocation-rate", "cpu_allocation_rate"},
             {"memory", "memory"},
             {"memory-allocation-rate", "memory_allocation_rate"},
             {"gpu-slots", "gpu_slots"},
             {"gpu-encoder-slots", "gpu_encoder_slots"},
             {"tags", "tags"}})
        config.set(shown, member(record, name));
    value.set("config", std::move(config));
    copy_members(record, value, {"runtime", "disk_limit_enforced"});
    const Json details = member(record, "details");
    if (details.is_object()) copy_members(details, value, {"android"});
    return value;
}

bool node_matches(const Json& record, const Condition& condition) {
    if (condition.key == "master") return yes_no(is_true(record, "is_master")) == condition.value;
    return text_of(record, condition.key) == condition.value;
}

int list_nodes(Context& context, const Arguments& arguments) {
    const auto conditions = parse_conditions(arguments.list("filter"), {"master", "status"}, "filter");
    Document document{Json::array(), {{"NAME", "ADDRESS", "PUBLIC ADDRESS", "STATUS", "ARCHITECTURE"}, {}}};
    for (const Json& record : context.client().nodes()) {
        if (!std::all_of(conditions.begin(), conditions.end(),
                         [&](const auto& c) { return node_matches(record, c); }))
            continue;
        document.value.push_back(node_value(record));
        document.table.rows.push_back({text_of(record, "name"), text_of(record, "address"),
                                       text_of(record, "public_address"), text_of(record, "status"),
                                       text_of(record, "architecture")});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

// The reservations of the instances on a node.
Json allocations(Context& context, const std::string& node) {
    Json all = Json::object();
    for (const Json& instance : context.client().instances())
        if (text_of(instance, "node") == node)
            all.set(text_of(instance, "id"), member(instance, "resources"));
    return all;
}

Json gpu_allocations(const Json& record) {
    Json all = Json::object();
    for (const Json& gpu : items_of(record, "gpus")) all.set(text_of(gpu, "id"), member(gpu, "allocations"));
    return all;
}

int show_node(Context& context, const Arguments& arguments) {
    const Json record = context.client().node(node_named(context.client(), arguments.text("name")));
    Json value = node_value(record);
    if (arguments.is_set("allocations"))
        value.set("allocations", allocations(context, text_of(record, "name")));
    if (arguments.is_set("gpu-allocations")) value.set("gpu-allocations", gpu_allocations(record));
    context.console().print(render(describe(std::move(value)), format_of(arguments)));
    return 0;
}

}  // namespace

Command node_list_command() {
    return {{"node", "list"},
            {"ls"},
            "list nodes",
            {},
            {{"filter", 'f', "KEY=VALUE", "only those with this status, or master=true", "", {}, true},
             format_flag("table")},
            list_nodes};
}

Command node_show_command() {
    return {{"node", "show"},
            {},
            "show a node",
            {{"name", "name of the node"}},
            {{"allocations", 0, "", "what each instance on it has reserved"},
             {"gpu-allocations", 0, "", "which instance has which GPU"},
             format_flag("yaml")},
            show_node};
}

}  // namespace svc::cli
