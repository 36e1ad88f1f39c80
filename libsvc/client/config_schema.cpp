#include "libsvc/client/config_schema.h"

namespace svc {

JsonArray config_schema(ApiClient& client) {
    return client.call(Method::get, "/1.0/config/schema").as_array();
}

}  // namespace svc
