#pragma once
// Envelopes of the management service (specification: Response envelopes; Status codes; Errors).
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc {

inline constexpr std::string_view api_version = "1.0";
inline constexpr std::string_view service_version = SVC_VERSION;

int http_status(ErrorCode code);  // the only place where a code becomes an HTTP status
std::string sync_body(
    const Json& metadata);  // type, status, status_code, operation, error_code, error, metadata
std::string sync_page_body(const Json& metadata,
                           std::size_t total_size);  // of one page of a list (extension)
std::string async_body(std::string_view operation_id, const Json& operation);
std::string error_body(int status, std::string_view message);

// Names of the API extensions that this build has, for GET /1.0 (docs/api-changes.md).
const std::vector<std::string>& api_extensions();

}  // namespace svc
