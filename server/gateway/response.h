#pragma once
// Makes the replies of the gateway. Its envelope differs from that of svcd (lower-case `success`).
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
// The reply that an error becomes. The text of an Error reaches the client; any other exception becomes
// "internal error". Faults of the server are logged with their text.
Response failure(const std::exception& error);

}  // namespace svc::gateway
