#pragma once
// Answers of the instance-local control API (specification: Instance-local control API, Errors 6;
// docs/guest-interface.md, Control API).
#include "libsvc/base/json.h"
#include "libsvc/net/http/response.h"

namespace svc::agent {

Response success();               // {"type":"sync","status":"Success","status_code":200}
Response success(Json metadata);  // the same with metadata
Response created();               // HTTP 201, "Created"
// {"type":"error","error":text,"error_code":code}: invalid_argument is 400, everything else 500. No other
// codes.
Response failure(const std::exception& error);
// The JSON body of a request: invalid_argument unless it is one whole value.
Json body_of(const Request& request);

}  // namespace svc::agent
