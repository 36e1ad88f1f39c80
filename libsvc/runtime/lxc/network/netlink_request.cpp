#include "libsvc/runtime/lxc/network/netlink_request.h"

#include <linux/rtnetlink.h>

#include <cstring>

namespace svc::lxc {

void NetlinkRequest::add(std::uint16_t attribute, std::uint32_t value) {
    add(attribute, &value, sizeof value);
}

void NetlinkRequest::add(std::uint16_t attribute, std::string_view text) {
    const std::string ended(text);
    add(attribute, ended.c_str(), ended.size() + 1);
}

void NetlinkRequest::add(std::uint16_t attribute, const void* value, std::size_t size) {
    rtattr header{};
    header.rta_len = static_cast<std::uint16_t>(RTA_LENGTH(size));
    header.rta_type = attribute;
    append(header);
    append(value, size);
}

std::size_t NetlinkRequest::open(std::uint16_t attribute) {
    const std::size_t at = bytes_.size();
    add(attribute, nullptr, 0);
    return at;
}

void NetlinkRequest::close(std::size_t attribute) {
    const auto size = static_cast<std::uint16_t>(bytes_.size() - attribute);
    std::memcpy(bytes_.data() + attribute + offsetof(rtattr, rta_len), &size, sizeof size);
}

std::string NetlinkRequest::bytes(std::uint32_t sequence) const {
    std::string bytes = bytes_;
    nlmsghdr header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    header.nlmsg_len = static_cast<std::uint32_t>(bytes.size());
    header.nlmsg_seq = sequence;
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

void NetlinkRequest::append(const void* value, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(value), size);
    bytes_.resize(NLMSG_ALIGN(bytes_.size()), '\0');
}

}  // namespace svc::lxc
