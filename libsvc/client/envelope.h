#pragma once
// Internal to this folder: reads the reply of a service. The envelopes of svcd and svc-gateway differ in
// details that do not matter here.
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::client {

// Returns the metadata; null when there is none. Throws the Error that the service answered, with its text,
// never as unavailable.
Json open_envelope(int status, std::string_view body);

}  // namespace svc::client
