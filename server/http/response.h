#pragma once
// Makes the replies of svcd's API: sync, async, error (specification: Response envelopes). Nothing else makes
// them.
#include <exception>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/model/cluster/operation.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"

namespace svc::server {

Response sync(const Json& metadata);
Response sync_tagged(const Json& metadata, std::string_view etag);
// 202 with the Location of the operation. The record has its secrets, because this reply goes to the client
// that has started it.
Response async(const Operation& operation);
Response metrics_text(std::string metrics);  // in the Prometheus text format
// The reply that an error becomes. The text of an Error reaches the client; any other exception becomes
// "internal error". Faults of the server are logged with their text.
Response failure(const std::exception& error);

}  // namespace svc::server
