#include "server/gateway/cors.h"

#include <algorithm>

namespace svc::gateway {

Cors::Cors(std::vector<std::string> allowed_origins)
    : allowed_(std::move(allowed_origins)),
      all_(std::find(allowed_.begin(), allowed_.end(), "*") != allowed_.end()) {}

std::string Cors::allowed_for(const Request& request) const {
    if (all_) return "*";
    const std::string origin = request.headers.get("Origin");
    return std::find(allowed_.begin(), allowed_.end(), origin) != allowed_.end() ? origin : "";
}

void Cors::decorate(const Request& request, Response& response) const {
    if (!all_) response.headers.add("Vary", "Origin");
    const std::string origin = allowed_for(request);
    if (origin.empty()) return;
    response.headers.set("Access-Control-Allow-Origin", origin);
    response.headers.set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
    response.headers.set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept");
}

Response Cors::preflight() {
    Response response;
    response.status = 204;
    response.headers.set("Access-Control-Max-Age", "600");
    return response;
}

}  // namespace svc::gateway
