#pragma once
// One request to the kernel's rtnetlink, and its answers.
#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace svc::lxc {

// Plain value.
class NetlinkRequest {
  public:
    template <class Body>
    NetlinkRequest(std::uint16_t type, unsigned flags, const Body& body) {
        nlmsghdr header{};
        header.nlmsg_type = type;
        header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
        bytes_.append(reinterpret_cast<const char*>(&body), sizeof body);
        pad();
    }
    void add(std::uint16_t attribute, std::uint32_t value);
    std::string bytes() const;  // with its length

  private:
    void pad() { bytes_.resize(NLMSG_ALIGN(bytes_.size()), '\0'); }
    std::string bytes_;
};

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
