#pragma once
// The replies of the API: sync, async, error. The only place that makes them.
#include <exception>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/model/cluster/operation.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"

namespace svc::server {

Response sync(const Json& metadata);
// `metadata` is JSON text already.
Response sync_rendered(std::string metadata);
// The same for a part of a list that has `total_size` items.
Response sync_page(std::string metadata, std::size_t total_size);
Response sync_tagged(const Json& metadata, std::string_view etag);
// 202 with the Location of the operation; the record has its secrets, being the creator's copy.
Response async(const Operation& operation);
Response metrics_text(std::string metrics);  // in the Prometheus text format
// Error texts reach the client; anything else becomes "internal error". Logs what is our fault, with its
// details.
Response failure(const std::exception& error);

}  // namespace svc::server
