#pragma once
// The OpenAPI document of the API, generated at build time from docs/api.yaml.
#include <string>

namespace svc::server {

// Returns JSON text.
std::string openapi_document();

}  // namespace svc::server
