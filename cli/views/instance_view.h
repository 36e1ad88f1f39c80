#pragma once
// Converts instance records to documents, and filters them.
#include <map>
#include <string>
#include <vector>

#include "cli/output/document.h"
#include "libsvc/client/api_client.h"

namespace svc::cli {

// The names of images and addresses of nodes, which instance records refer to by id. Fetched once, when a
// record needs them; empty when the service refuses.
struct InstanceSurroundings {
    std::map<std::string, std::string> image_names;
    std::map<std::string, std::string> node_addresses;
};
InstanceSurroundings surroundings_of(ApiClient& client, const JsonArray& instances);

// That of the record, or "paused" of a running one that is paused.
std::string instance_status(const Json& record);
Json instance_value(const Json& record, const InstanceSurroundings& around);
Document instance_list(const JsonArray& records, const InstanceSurroundings& around);
// "[<name>:]<address>:<port>/<proto>", one for the instance's own address and one for the node's port.
std::vector<std::string> endpoints(const Json& record, const InstanceSurroundings& around);

// "status=running": keys app, image, status, node, type, tags.
struct Condition {
    std::string key, value;
};
// Throws UsageError unless the text is key=value with one of `keys`.
std::vector<Condition> parse_conditions(const std::vector<std::string>& texts,
                                        const std::vector<std::string>& keys, std::string_view flag);
const std::vector<std::string>& instance_condition_keys();
bool instance_matches(const Json& record, const Condition& condition);

}  // namespace svc::cli
