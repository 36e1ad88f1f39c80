#pragma once
// One request to the kernel's rtnetlink, as bytes. svc-launch links it too, so it uses no other file.
#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace svc::lxc {

// Plain value. What is added belongs to the attribute that was opened last and is not closed. Numbers are in
// the byte order of the machine.
class NetlinkRequest {
  public:
    template <class Body>
    NetlinkRequest(std::uint16_t type, unsigned flags, const Body& body) {
        nlmsghdr header{};
        header.nlmsg_type = type;
        header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        append(header);
        append(body);
    }
    void add(std::uint16_t attribute, std::uint32_t value);
    void add(std::uint16_t attribute, std::string_view text);  // with a zero behind it
    void add(std::uint16_t attribute, const void* value, std::size_t size);
    // Returns what close() takes. Attributes are closed in the reverse order.
    std::size_t open(std::uint16_t attribute);
    void close(std::size_t attribute);
    template <class Body>
    void append(const Body& body) {
        append(&body, sizeof body);
    }
    std::string bytes(std::uint32_t sequence = 0) const;  // with its length

  private:
    void append(const void* value, std::size_t size);
    std::string bytes_;
};

}  // namespace svc::lxc
