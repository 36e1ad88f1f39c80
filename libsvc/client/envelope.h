#pragma once
// The envelopes of both services (management and gateway) differ in details that are of no interest here.
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::client {

// The metadata, null when there is none. Refusals become exceptions with the service's text, never
// `unavailable`.
Json open_envelope(int status, std::string_view body);

}  // namespace svc::client
