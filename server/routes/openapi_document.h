#pragma once
#include <string>

namespace svc::server {

// JSON text. Lives as long as the program.
std::string openapi_document();

}  // namespace svc::server
