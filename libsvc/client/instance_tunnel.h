#pragma once
// A connection of this machine joined to a server in an instance (API extension instance_forwards,
// docs/forwards.md). The program svc-agent in the instance connects to the server, and the streams of that
// command carry the bytes: no port is opened anywhere, and whoever may run commands may do this.
#include <stop_token>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"
#include "libsvc/client/api_client.h"

namespace svc {

// `target`, as the instance sees it: "80" (of 127.0.0.1), "10.0.0.2:80", "unix:/run/x.sock". Blocks until
// the server or the client has closed the connection; uses more threads meanwhile. Any thread. When `stop` is
// requested it breaks the connection and returns. Throws what the service answers; unavailable where nothing
// answers at the target, or the way to the instance broke.
void join_to_instance(ApiClient& client, std::string_view instance, const std::string& target,
                      const FileDescriptor& connection, const std::stop_token& stop = {});

}  // namespace svc
