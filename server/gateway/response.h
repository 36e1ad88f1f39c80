#pragma once
// The answers of the gateway: its envelope differs from the management service's (lower-case `success`).
#include <exception>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/net/http/response.h"

namespace svc::gateway {

Response success(int status, const Json& metadata);
Response success();  // without metadata
Response page(const Json& metadata, std::size_t total_size);
// `metadata` may be null.
Response refusal(int status, std::string_view message, const Json& metadata = {});
// Error texts reach the client; anything else becomes "internal error". Logs what is our fault, with its
// details.
Response failure(const std::exception& error);

}  // namespace svc::gateway
