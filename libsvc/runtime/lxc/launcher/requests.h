#pragma once
// Requests to the kernel's network (rtnetlink). Throws LaunchFailure.
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/network/netlink_request.h"

namespace svc::lxc {

// Sends all as one message and waits for an answer to each, so each has the flag NLM_F_ACK. Throws for the
// first that the kernel refuses.
void send_requests(const std::vector<NetlinkRequest>& requests, std::string_view step);

}  // namespace svc::lxc
