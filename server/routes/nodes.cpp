#include "server/http/etag.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

Response list_nodes(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    return sync_list(request, services.nodes.list(), [records, &nodes = services.nodes](const Node& node) {
        return records ? nodes.describe(node) : Json("/1.0/nodes/" + node.name);
    });
}

Response add_node(const Services& services, const Request& request) {
    return async(*services.nodes.create(NodeCreate::from_json(json_body(request)), request.requestor));
}

Response show_node(const Services& services, const Request& request) {
    const auto node = services.nodes.get(request.params.at("name"));
    return sync_tagged(services.nodes.describe(*node), services.nodes.etag(*node));
}

Response update_node(const Services& services, const Request& request) {
    const std::string& name = request.params.at("name");
    check_if_match(request, services.nodes.etag(*services.nodes.get(name)));
    return async(*services.nodes.patch(name, NodePatch::from_json(json_body(request)), request.requestor,
                                       if_match(request)));
}

Response delete_node(const Services& services, const Request& request) {
    return async(*services.nodes.remove(
        request.params.at("name"), NodeRemoval::from_json(optional_json_body(request)), request.requestor));
}

Response evacuate_node(const Services& services, const Request& request) {
    return async(*services.instances.evacuate(request.params.at("name"), parse_evacuation(json_body(request)),
                                              request.requestor));
}

}  // namespace

std::vector<Route> node_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    return {
        {Method::get, "/1.0/nodes", viewer, on_pool, "nodes", call(list_nodes)},
        {Method::post, "/1.0/nodes", admin, on_pool, "nodes", call(add_node)},
        {Method::get, "/1.0/nodes/{name}", viewer, on_pool, "node", call(show_node)},
        {Method::patch, "/1.0/nodes/{name}", admin, on_pool, "node", call(update_node)},
        {Method::delete_, "/1.0/nodes/{name}", admin, on_pool, "node", call(delete_node)},
        {Method::post, "/1.0/nodes/{name}/evacuate", admin, on_pool, "node_evacuate", call(evacuate_node)},
    };
}

}  // namespace svc::server
