#include "server/listing.h"
#include "server/query.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

Response list_nodes(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    return sync_list(services.nodes.list(), [records](const Node& node) {
        return records ? to_json(node) : Json("/1.0/nodes/" + node.name);
    });
}

Response show_node(const Services& services, const Request& request) {
    const auto node = services.nodes.get(request.params.at("name"));
    return sync_tagged(to_json(*node), services.nodes.etag(*node));
}

}  // namespace

std::vector<Route> node_routes(const Services& services) {
    using enum Dispatch;
    return {
        {Method::get, "/1.0/nodes", Access::trusted, on_pool, "nodes",
         [services](Request& request) { return list_nodes(services, request); }},
        {Method::get, "/1.0/nodes/{name}", Access::trusted, on_io_thread, "node",
         [services](Request& request) { return show_node(services, request); }},
    };
}

}  // namespace svc::server
