#include "cli/views/instance_view.h"

#include <algorithm>

#include "cli/output/values.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

std::string port_text(std::int64_t port, std::int64_t end) {
    return std::to_string(port) + (end > port ? "-" + std::to_string(end) : "");
}

std::string source_name(const Json& record, const InstanceSurroundings& around) {
    if (std::string app = text_of(record, "app_name"); !app.empty()) return app;
    if (std::string app = text_of(record, "app_id"); !app.empty()) return app;
    const std::string image = text_of(record, "image_id");
    const auto name = around.image_names.find(image);
    return name == around.image_names.end() ? image : name->second;
}

std::string node_address(const Json& record, const Json& service, const InstanceSurroundings& around) {
    const auto node = around.node_addresses.find(text_of(record, "node"));
    const std::string inner = node == around.node_addresses.end() ? "" : node->second;
    const std::string outer = text_of(record, "public_address");
    if (is_true(service, "expose")) return outer.empty() ? inner : outer;
    return inner.empty() ? outer : inner;
}

// In brackets, to separate an IPv6 address from the port.
std::string host_text(const std::string& address) {
    return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

Json source_value(const Json& record, const InstanceSurroundings& around) {
    Json source = Json::object({{"id", text_of(record, "image_id")}});
    const auto name = around.image_names.find(text_of(record, "image_id"));
    if (name != around.image_names.end()) source.set("name", name->second);
    source.set("version", number_of(record, "image_version"));
    return source;
}

void copy_lifetime(const Json& record, Json& value) {
    for (const char* time : {"expires_at", "used_at"})
        if (const auto seconds = number_of(record, time)) value.set(time, time_text(seconds));
    copy_members(record, value, {"idle_after"});
}

template <class Names>
void collect(const JsonArray& records, std::string_view key, std::string_view value, Names& names) {
    for (const Json& record : records) names[text_of(record, key)] = text_of(record, value);
}

}  // namespace

std::string instance_status(const Json& record) {
    if (is_true(record, "paused")) return "paused";
    const std::string status = text_of(record, "status");
    return is_true(record, "pooled") && status == "running" ? "pooled" : status;
}

InstanceSurroundings surroundings_of(ApiClient& client, const JsonArray& instances) {
    InstanceSurroundings around;
    const auto any = [&](auto&& needs) { return std::any_of(instances.begin(), instances.end(), needs); };
    try {
        if (any([](const Json& r) { return !text_of(r, "image_id").empty(); }))
            collect(client.images(), "id", "name", around.image_names);
        if (any([](const Json& r) { return !items_of(r, "services").empty(); }))
            collect(client.nodes(), "name", "address", around.node_addresses);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw;  // else shows ids in place of names
    }
    return around;
}

std::vector<std::string> endpoints(const Json& record, const InstanceSurroundings& around) {
    std::vector<std::string> found;
    const std::string address = text_of(record, "address");
    for (const Json& service : items_of(record, "services")) {
        const std::string name = text_of(service, "name");
        std::vector<std::string> protocols;
        for (const Json& protocol : items_of(service, "protocols")) protocols.push_back(protocol.as_string());
        const auto add = [&](const std::string& host, const std::string& port) {
            const std::int64_t first = number_of(service, port);
            if (host.empty() || first == 0) return;
            found.push_back((name.empty() ? "" : name + ":") + host_text(host) + ":" +
                            port_text(first, number_of(service, port + "_end")) + "/" + join(protocols, ","));
        };
        add(address, "port");
        add(node_address(record, service, around), "node_port");
    }
    return found;
}

Json instance_value(const Json& record, const InstanceSurroundings& around) {
    Json value = Json::object();
    copy_members(record, value, {"id", "name", "type"});
    value.set("status", instance_status(record));
    copy_members(record, value, {"node"});
    value.set("created_at", time_text(number_of(record, "created_at")));
    copy_lifetime(record, value);
    if (!text_of(record, "app_id").empty())
        value.set("application", Json::object({{"id", text_of(record, "app_id")},
                                               {"version", number_of(record, "app_version")}}));
    value.set("image", source_value(record, around));
    Json network = Json::object();
    copy_members(record, network, {"address", "public_address"});
    network.set("services", Json(items_of(record, "services")));
    value.set("network", network);
    value.set("stored_logs", Json(items_of(record, "stored_logs")));
    copy_members(record, value, {"error_message", "config", "resources", "architecture", "tags"});
    return value;
}

Document instance_list(const JsonArray& records, const InstanceSurroundings& around) {
    Document document{Json::array(),
                      {{"ID", "NAME", "APPLICATION", "TYPE", "STATUS", "NODE", "ADDRESS", "ENDPOINTS"}, {}}};
    for (const Json& record : records) {
        document.value.push_back(instance_value(record, around));
        document.table.rows.push_back({text_of(record, "id"), text_of(record, "name"),
                                       source_name(record, around), text_of(record, "type"),
                                       instance_status(record), text_of(record, "node"),
                                       text_of(record, "address"), join(endpoints(record, around), "\n")});
    }
    return document;
}

std::vector<Condition> parse_conditions(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& keys, std::string_view flag) {
    std::vector<Condition> conditions;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        Condition condition{text.substr(0, equals),
                            equals == std::string::npos ? "" : text.substr(equals + 1)};
        if (equals == std::string::npos || std::find(keys.begin(), keys.end(), condition.key) == keys.end())
            throw UsageError("--" + std::string(flag) + ": " + quoted(text) +
                             " is not <key>=<value> with a key of " + join(keys, ", "));
        conditions.push_back(std::move(condition));
    }
    return conditions;
}

const std::vector<std::string>& instance_condition_keys() {
    static const std::vector<std::string> keys{"app", "image", "status", "node", "type", "tags"};
    return keys;
}

bool instance_matches(const Json& record, const Condition& condition) {
    if (condition.key == "tags") {
        const std::vector<std::string> wanted = split(condition.value, ',');
        const JsonArray& tags = items_of(record, "tags");
        return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& tag) {
            return std::find(tags.begin(), tags.end(), Json(tag)) != tags.end();
        });
    }
    if (condition.key == "app")
        return text_of(record, "app_id") == condition.value || text_of(record, "app_name") == condition.value;
    if (condition.key == "image") return text_of(record, "image_id") == condition.value;
    if (condition.key == "status") return instance_status(record) == condition.value;
    return text_of(record, condition.key) == condition.value;
}

}  // namespace svc::cli
