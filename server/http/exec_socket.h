#pragma once
// A stream of an exec session as a WebSocket: binary messages carry data, an empty text message ends the
// stream.
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"
#include "libsvc/services/exec/exec_service.h"

namespace svc::server {

// The reply that upgrades to the stream with this secret. Throws what ExecService::connect throws, and
// invalid_argument when the request asks for no WebSocket (the secret stays usable then).
Response exec_socket(ExecService& exec, const Request& request, std::string_view operation_id,
                     std::string_view secret);

}  // namespace svc::server
