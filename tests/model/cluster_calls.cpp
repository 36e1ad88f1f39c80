// Operations, certificates, configuration, nodes.
#include "libsvc/base/digest.h"
#include "libsvc/net/tls/x509.h"
#include "tests/model/random_client.h"

namespace svc::test {

namespace {

void cancel(RandomClient& client) {
    client.cancel_recent(client.pick(4));
}

void await_end(RandomClient& client) {
    client.wait_recent(client.pick(4), "20");
}

void look_at_operation(RandomClient& client) {
    client.wait_recent(client.pick(8), "0");
}

void list_operations(RandomClient& client) {
    client.call("operations.list", "", Method::get, "/1.0/operations?recursion=1");
}

void list_tasks(RandomClient& client) {
    client.call("tasks.list", "", Method::get, "/1.0/tasks");
}

const std::string& any_certificate(RandomClient& client) {
    const auto& all = client.material().certificates;
    return all[static_cast<std::size_t>(client.pick(static_cast<int>(all.size())))];
}

std::string fingerprint_of(const std::string& pem) {
    return parse_x509(pem).fingerprint;
}

void trust(RandomClient& client) {
    const std::string& pem = any_certificate(client);
    client.call("certificates.create", fingerprint_of(pem), Method::post, "/1.0/certificates",
                Json::object({{"certificate", pem}}));
}

void distrust(RandomClient& client) {
    const std::string fingerprint = fingerprint_of(any_certificate(client));
    client.call("certificates.delete", fingerprint, Method::delete_, "/1.0/certificates/" + fingerprint);
}

void show_certificate(RandomClient& client) {
    const std::string fingerprint = fingerprint_of(any_certificate(client));
    client.call("certificates.show", fingerprint, Method::get, "/1.0/certificates/" + fingerprint);
}

void list_certificates(RandomClient& client) {
    client.call("certificates.list", "", Method::get, "/1.0/certificates?recursion=1");
}

void configure(RandomClient& client) {
    struct Item {
        const char* key;
        std::vector<const char*> values;
    };
    static const std::vector<Item> items{{"application.auto_publish", {"true", "true", "false", "maybe"}},
                                         {"application.max_published_versions", {"2", "3", ""}},
                                         {"scheduler.strategy", {"spread", "binpack", "throw-dice"}},
                                         {"application.addons", {"", "", "d0"}}};
    const Item& item = items[static_cast<std::size_t>(client.pick(static_cast<int>(items.size())))];
    const char* const value =
        item.values[static_cast<std::size_t>(client.pick(static_cast<int>(item.values.size())))];
    client.call("config.set", item.key, Method::patch, "/1.0/config",
                Json::object({{"name", item.key}, {"value", value}}));
}

void read_config(RandomClient& client) {
    client.call("config.show", "", Method::get, "/1.0/config");
}

void change_node(RandomClient& client) {
    Json fields = Json::object();
    if (client.chance(50))
        fields.set("unscheduable", client.chance(10));
    else
        fields.set("cpu_allocation_rate", 4 + client.pick(2));
    client.call("nodes.update", "node0", Method::patch, "/1.0/nodes/node0", fields);
}

void show_node(RandomClient& client) {
    client.call("nodes.show", "node0", Method::get, "/1.0/nodes/node0");
}

}  // namespace

std::vector<CallKind> cluster_calls() {
    return {
        {9, cancel},      {10, await_end},  {4, look_at_operation}, {2, list_operations},   {1, list_tasks},
        {3, trust},       {3, distrust},    {1, show_certificate},  {1, list_certificates}, {3, configure},
        {1, read_config}, {2, change_node}, {1, show_node}};
}

}  // namespace svc::test
