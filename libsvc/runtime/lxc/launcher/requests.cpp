#include "libsvc/runtime/lxc/launcher/requests.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "libsvc/runtime/lxc/launcher/descriptor.h"

namespace svc::lxc {

namespace {

// Throws for the first request that the kernel refuses. Returns how many answers the text has.
unsigned take_answers(std::string_view text, std::string_view step) {
    unsigned answers = 0;
    while (text.size() >= sizeof(nlmsghdr)) {
        nlmsghdr header{};
        nlmsgerr answer{};
        std::memcpy(&header, text.data(), sizeof header);
        if (header.nlmsg_len < sizeof header + sizeof answer.error || header.nlmsg_len > text.size()) break;
        std::memcpy(&answer, text.data() + sizeof header,
                    std::min<std::size_t>(sizeof answer, header.nlmsg_len - sizeof header));
        if (header.nlmsg_type == NLMSG_ERROR) {
            errno = -answer.error;
            if (answer.error != 0) fail(std::string(step) + ", request " + std::to_string(header.nlmsg_seq));
            ++answers;
        }
        text.remove_prefix(std::min<std::size_t>(text.size(), NLMSG_ALIGN(header.nlmsg_len)));
    }
    return answers;
}

}  // namespace

void send_requests(const std::vector<NetlinkRequest>& requests, std::string_view step) {
    std::string text;
    std::uint32_t sequence = 0;
    for (const NetlinkRequest& request : requests) text += request.bytes(++sequence);
    const Descriptor socket(static_cast<int>(
        check(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), "cannot open a socket")));
    check(::send(socket.get(), text.data(), text.size(), 0), step);
    std::array<char, 8192> answer{};
    for (unsigned left = sequence; left > 0;) {
        const auto got =
            static_cast<std::size_t>(check(::recv(socket.get(), answer.data(), answer.size(), 0), step));
        left -= std::min(left, take_answers({answer.data(), got}, step));
    }
}

}  // namespace svc::lxc
