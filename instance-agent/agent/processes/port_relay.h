#pragma once
// svc-agent connect TARGET: joins standard input and output to a server in the instance, for a client of the
// service that forwards a port (docs/forwards.md).
#include <string>
#include <vector>

namespace svc::agent {

// TARGET: "80" (of 127.0.0.1), "10.0.0.2:80", "[::1]:80", "unix:/run/x.sock". The end of standard input ends
// the sending direction; returns 0 when the server has closed the connection. Throws invalid_argument for
// wrong usage, unavailable when nothing answers at TARGET.
int run_port_relay(const std::vector<std::string>& words);

}  // namespace svc::agent
