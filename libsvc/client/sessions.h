#pragma once
// Browsers that are logged in, and roles of certificates (API extensions sessions, roles). Each call blocks
// for one request, throws what the service answers, and may be made from one thread at a time for one
// ApiClient.
#include <string_view>

#include "libsvc/client/api_client.h"

namespace svc {

JsonArray sessions(ApiClient& client);  // records: of an admin all, of others their own
void end_session(ApiClient& client, std::string_view id);
// {"secret", "urls", "expires_at"}. `role`: "" is the caller's own.
Json make_login_link(ApiClient& client, std::string_view role);
bool has_console(ApiClient& client);  // false: it was built without
Json set_certificate_role(ApiClient& client, std::string_view fingerprint, std::string_view role);

}  // namespace svc
