#pragma once
// What the kernel's rtnetlink answers to a request.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/network/netlink_request.h"

namespace svc::lxc {

struct NetlinkAnswer {
    int error = 0;  // an errno; 0: done
    // What the kernel told: body and attributes of each message.
    std::vector<std::string> messages;
};
// Waits for the acknowledgement, or the end of a list. Throws internal when the kernel cannot be asked.
NetlinkAnswer ask_kernel(const NetlinkRequest& request);

// Attributes behind the first `body` bytes of a message, by their types.
std::map<std::uint16_t, std::string> attributes_of(std::string_view message, std::size_t body);
std::uint32_t number_in(const std::map<std::uint16_t, std::string>& attributes,
                        std::uint16_t type);  // 0: absent

}  // namespace svc::lxc
