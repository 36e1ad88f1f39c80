// node add, set, remove, evacuate.
#include <algorithm>
#include <array>
#include <charconv>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/command_line/field_values.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

enum class NodeFieldKind { text, number, list, boolean };

struct NodeField {
    std::string_view name;  // as the user writes it
    std::string_view key;   // as the API has it
    NodeFieldKind kind;
};
constexpr std::array node_fields{
    NodeField{"public-address", "public_address", NodeFieldKind::text},
    NodeField{"cpus", "cpus", NodeFieldKind::number},
    NodeField{"cpu-allocation-rate", "cpu_allocation_rate", NodeFieldKind::number},
    NodeField{"memory", "memory", NodeFieldKind::text},
    NodeField{"memory-allocation-rate", "memory_allocation_rate", NodeFieldKind::number},
    NodeField{"gpu-slots", "gpu_slots", NodeFieldKind::number},
    NodeField{"gpu-encoder-slots", "gpu_encoder_slots", NodeFieldKind::number},
    NodeField{"tags", "tags", NodeFieldKind::list},
    NodeField{"unschedulable", "unscheduable", NodeFieldKind::boolean},
};

std::string field_names() {
    std::vector<std::string> names;
    for (const NodeField& field : node_fields) names.emplace_back(field.name);
    return join(names, ", ") + ", gpus.<id>.slots, gpus.<id>.encoder-slots";
}

Json node_number(const std::string& name, const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        throw UsageError(name + ": " + quoted(text) + " is not a number");
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? Json(whole) : Json(number);
}

Json node_value(const NodeField& field, const std::string& text) {
    switch (field.kind) {
        case NodeFieldKind::text:
            return text;
        case NodeFieldKind::number:
            return node_number(std::string(field.name), text);
        case NodeFieldKind::list:
            return list_value(text);
        case NodeFieldKind::boolean:
            return boolean_value(field.name, text);
    }
    return {};
}

// "gpus.0.slots": one GPU's own.
Json gpu_patch(const std::string& name, const std::string& text) {
    const std::vector<std::string> parts = split(name, '.');
    const bool known =
        parts.size() == 3 && parts[0] == "gpus" && (parts[2] == "slots" || parts[2] == "encoder-slots");
    if (!known) throw UsageError(quoted(name) + " is none of " + field_names());
    const std::string key = parts[2] == "slots" ? "slots" : "encoder_slots";
    Json gpu = Json::object({{"id", node_number(name, parts[1])}, {key, node_number(name, text)}});
    return Json::object({{"gpus", Json::array({std::move(gpu)})}});
}

int set(Context& context, const Arguments& arguments) {
    const std::string name = arguments.text("setting");
    const std::string text = arguments.text("value");
    const auto field = std::find_if(node_fields.begin(), node_fields.end(),
                                    [&](const NodeField& f) { return f.name == name; });
    const Json body = field == node_fields.end()
                          ? gpu_patch(name, text)
                          : Json::object({{std::string(field->key), node_value(*field, text)}});
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().patch_node(node_named(context.client(), arguments.text("name")), body));
    return 0;
}

int add_node(Context& context, const Arguments& arguments) {
    Json body = Json::object({{"name", arguments.text("name")}, {"address", arguments.text("address")}});
    const std::initializer_list<std::pair<std::string_view, std::string>> texts{
        {"network", "network_name"},          {"network-subnet", "network_subnet"},
        {"storage-device", "storage_device"}, {"storage-pool", "storage_pool"},
        {"trust-password", "trust_password"}, {"trust-token", "trust_token"}};
    for (const auto& [flag, key] : texts)
        if (arguments.given(flag)) body.set(key, arguments.text(flag));
    if (const auto mtu = arguments.integer("network-bridge-mtu")) body.set("network_bridge_mtu", *mtu);
    if (arguments.given("tags")) body.set("tags", list_value(join(arguments.comma_list("tags"), ",")));
    if (arguments.is_set("unmanaged")) body.set("unmanaged", true);
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().create_node(body));
    context.console().print_line("nodes:\n  - " + arguments.text("name"));
    return 0;
}

int remove_node(Context& context, const Arguments& arguments) {
    const std::string name = node_named(context.client(), arguments.text("name"));
    if (!arguments.is_set("yes")) confirm_removal(context.console(), {"node " + quoted(name)});
    Waiting waiting(context, arguments, false);
    waiting.finish(
        context.client().delete_node(name, arguments.is_set("force"), arguments.is_set("keep-in-cluster")));
    return 0;
}

int evacuate_node(Context& context, const Arguments& arguments) {
    const std::string name = node_named(context.client(), arguments.text("name"));
    const std::string mode = arguments.given("mode") ? arguments.text("mode") : "stop";
    if (mode != "stop" && !arguments.is_set("yes"))
        confirm_removal(context.console(), {"the instances on node " + quoted(name)});
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().evacuate_node(name, mode));
    return 0;
}

}  // namespace

Command node_add_command() {
    return {{"node", "add"},
            {"new"},
            "add a machine that instances run on",
            {{"name", "name of the new node"}, {"address", "address of its hypervisor"}},
            {{"network", 0, "NAME", "bridge to create"},
             {"network-bridge-mtu", 0, "N", "MTU of the bridge"},
             {"network-subnet", 0, "CIDR", "its address and the instances' network"},
             {"storage-device", 0, "PATH", "block device of the storage pool"},
             {"storage-pool", 0, "NAME", "use this existing pool"},
             {"tags", 0, "LIST", "tags, separated by commas", "", {}, true},
             {"trust-password", 0, "TEXT", "password of the remote hypervisor"},
             {"trust-token", 0, "TEXT", "join token of the remote hypervisor"},
             {"unmanaged", 0, "", "the node is in the hypervisor's cluster already; do not configure it"},
             timeout_flag()},
            add_node};
}

Command node_set_command() {
    return {{"node", "set"},
            {},
            "change a setting of a node",
            {{"name", "name of the node"}, {"setting", "which setting"}, {"value", "its value"}},
            {timeout_flag()},
            set,
            "Settings: " + field_names() + "."};
}

Command node_remove_command() {
    return {{"node", "remove"},
            {"rm"},
            "remove a node",
            {{"name", "name of the node"}},
            {{"force", 'f', "", "also when instances are on it; they are deleted"},
             {"keep-in-cluster", 0, "", "leave it in the hypervisor's cluster"},
             {"yes", 'y', "", "do not ask"},
             timeout_flag()},
            remove_node};
}

Command node_evacuate_command() {
    return {{"node", "evacuate"},
            {},
            "close a node for new instances, and empty it",
            {{"name", "name of the node"}},
            {{"mode", 0, "MODE",
              "stop what runs; delete all; relaunch: launch all anew on other nodes, then delete", "stop"},
             {"yes", 'y', "", "do not ask"},
             timeout_flag()},
            evacuate_node,
            "'node set NAME unschedulable false' opens the node again."};
}

}  // namespace svc::cli
