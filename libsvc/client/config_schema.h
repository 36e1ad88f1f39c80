#pragma once
// What can be configured (API extension config_schema). Blocks for one request and throws what the service
// answers.
#include "libsvc/client/api_client.h"

namespace svc {

JsonArray config_schema(ApiClient& client);  // an object for each item, ordered by name

}  // namespace svc
