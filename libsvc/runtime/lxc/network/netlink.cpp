#include "libsvc/runtime/lxc/network/netlink.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::lxc {

namespace {

constexpr std::size_t largest_answer = std::size_t{64} << 10;

template <class Value>
Value value_at(std::string_view bytes) {
    Value value{};
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

std::string receive(int socket) {
    std::string buffer(largest_answer, '\0');
    for (;;) {
        const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) throw system_error("cannot read what the kernel tells of routes", errno);
        buffer.resize(static_cast<std::size_t>(got));
        return buffer;
    }
}

// True: that was the last one.
bool take_messages(std::string_view text, NetlinkAnswer& answer) {
    while (text.size() >= sizeof(nlmsghdr)) {
        const auto header = value_at<nlmsghdr>(text);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > text.size()) return true;
        const std::string_view body = text.substr(sizeof header, header.nlmsg_len - sizeof header);
        if (header.nlmsg_type == NLMSG_DONE) return true;
        if (header.nlmsg_type == NLMSG_ERROR) {
            answer.error = -value_at<nlmsgerr>(body).error;
            return true;
        }
        answer.messages.emplace_back(body);
        text.remove_prefix(std::min(text.size(), std::size_t{NLMSG_ALIGN(header.nlmsg_len)}));
    }
    return false;
}

}  // namespace

NetlinkAnswer ask_kernel(const NetlinkRequest& request) {
    const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    const std::string bytes = request.bytes();
    if (!socket || ::send(socket.get(), bytes.data(), bytes.size(), 0) < 0)
        throw system_error("cannot ask the kernel for routes", errno);
    NetlinkAnswer answer;
    while (!take_messages(receive(socket.get()), answer)) {
    }
    return answer;
}

std::map<std::uint16_t, std::string> attributes_of(std::string_view message, std::size_t body) {
    std::map<std::uint16_t, std::string> attributes;
    message.remove_prefix(std::min(message.size(), std::size_t{NLMSG_ALIGN(body)}));
    while (message.size() >= sizeof(rtattr)) {
        const auto header = value_at<rtattr>(message);
        if (header.rta_len < sizeof header || header.rta_len > message.size()) break;
        attributes[header.rta_type] = message.substr(sizeof header, header.rta_len - sizeof header);
        message.remove_prefix(std::min(message.size(), std::size_t{RTA_ALIGN(header.rta_len)}));
    }
    return attributes;
}

std::uint32_t number_in(const std::map<std::uint16_t, std::string>& attributes, std::uint16_t type) {
    const auto found = attributes.find(type);
    return found == attributes.end() ? 0 : value_at<std::uint32_t>(found->second);
}

}  // namespace svc::lxc
