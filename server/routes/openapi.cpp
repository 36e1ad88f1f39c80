// The description of the API, made from docs/api.yaml when the program was built.
#include "server/routes/openapi_document.h"
#include "server/routes/routes.h"

namespace svc::server {

std::vector<Route> openapi_routes(const Services&) {
    std::vector<Route> routes;
    for (const char* path : {"/1.0/openapi.json", "/1.0/swagger.json"})
        routes.push_back({Method::get, path, Access::viewer, Dispatch::on_io_thread, "openapi",
                          [](Request&) { return json_response(200, openapi_document()); }});
    return routes;
}

}  // namespace svc::server
