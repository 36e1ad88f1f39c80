#include "libsvc/runtime/lxc/network/links.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"

namespace svc::lxc {

namespace {

FileDescriptor control_socket() {
    FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) throw system_error("cannot open a network socket", errno);
    return socket;
}

ifreq request_for(const std::string& name) {
    ifreq request{};
    name.copy(static_cast<char*>(request.ifr_name), IFNAMSIZ - 1);
    return request;
}

void apply(int socket, unsigned long what, ifreq& request, std::string_view step) {
    if (::ioctl(socket, what, &request) != 0)
        throw system_error(
            fmt::format("bridge '{}': cannot set its {}", static_cast<const char*>(request.ifr_name), step),
            errno);
}

sockaddr ipv4_sockaddr(std::uint32_t address) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_addr.s_addr = htonl(address);
    sockaddr result{};
    std::memcpy(&result, &ipv4, sizeof result);
    return result;
}

// Without a hardware address of its own a bridge has the lowest one of its members and changes it with them.
void set_hardware_address(int socket, const std::string& name, std::uint32_t address) {
    ifreq request = request_for(name);
    const unsigned char bytes[6] = {0x02,
                                    0x16,
                                    static_cast<unsigned char>(address >> 24),
                                    static_cast<unsigned char>(address >> 16),
                                    static_cast<unsigned char>(address >> 8),
                                    static_cast<unsigned char>(address)};
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::memcpy(static_cast<void*>(request.ifr_hwaddr.sa_data), static_cast<const void*>(bytes),
                sizeof bytes);
    apply(socket, SIOCSIFHWADDR, request, "hardware address");
}

void set_address(int socket, const std::string& name, const Subnet& subnet) {
    ifreq request = request_for(name);
    request.ifr_addr = ipv4_sockaddr(subnet.address);
    apply(socket, SIOCSIFADDR, request, "address");
    request.ifr_netmask = ipv4_sockaddr(subnet.mask());
    apply(socket, SIOCSIFNETMASK, request, "netmask");
}

void set_up(int socket, const std::string& name, unsigned mtu) {
    ifreq request = request_for(name);
    request.ifr_mtu = static_cast<int>(mtu);
    apply(socket, SIOCSIFMTU, request, "MTU");
    request = request_for(name);
    apply(socket, SIOCGIFFLAGS, request, "flags");
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    apply(socket, SIOCSIFFLAGS, request, "flags");
}

void write_setting(const std::filesystem::path& path, std::string_view value) {
    try {
        write_all(open_file(path, O_WRONLY).get(), value);
    } catch (const Error& e) {
        throw Error(e.code(), fmt::format("cannot set {}: {}", path.native(), e.what()));
    }
}

// The bridge would keep frames to some group addresses for itself: learn from them, and hand them to the host
// as if they had come from a device of its own, past the rules.
void pass_all_groups(const std::string& name) {
    const std::filesystem::path settings = "/sys/class/net/" + name;
    write_setting(settings / "bridge/stp_state", "0");
    write_setting(settings / "bridge/group_fwd_mask", "0xfff8");
    write_setting(settings / "netdev_group", std::to_string(bridge_group));
}

bool has_address(const std::string& name, const Subnet& subnet) {
    const auto addresses = interface_addresses();
    return std::any_of(addresses.begin(), addresses.end(),
                       [&](const InterfaceAddress& a) { return a.interface == name && a.subnet == subnet; });
}

struct LinkRequest {
    nlmsghdr header{};
    ifinfomsg link{};
};

}  // namespace

bool link_exists(const std::string& name) {
    return ::if_nametoindex(name.c_str()) != 0;
}

bool is_bridge(const std::string& name) {
    std::error_code ignored;
    return std::filesystem::is_directory("/sys/class/net/" + name + "/bridge", ignored);
}

void switch_ipv6_off(const std::string& name) {
    const std::filesystem::path settings = "/proc/sys/net/ipv6/conf/" + name;
    if (!std::filesystem::exists(settings)) return;
    write_setting(settings / "accept_ra", "0");
    write_setting(settings / "disable_ipv6", "1");
}

void ensure_bridge(const std::string& name, const Subnet& subnet, unsigned mtu) {
    const FileDescriptor socket = control_socket();
    if (::ioctl(socket.get(), SIOCBRADDBR, name.c_str()) != 0 && errno != EEXIST)
        throw system_error(fmt::format("cannot make bridge '{}'", name), errno);
    if (!is_bridge(name))
        throw Error(ErrorCode::conflict,
                    fmt::format("network interface '{}' exists and is not a bridge", name));
    failpoint("bridge.made");
    set_hardware_address(socket.get(), name, subnet.address);  // the rules rely on it
    switch_ipv6_off(name);
    pass_all_groups(name);
    if (!has_address(name, subnet)) set_address(socket.get(), name, subnet);
    failpoint("bridge.addressed");
    set_up(socket.get(), name, mtu);
}

void remove_bridge(const std::string& name) {
    if (!is_bridge(name)) return;
    const FileDescriptor socket = control_socket();
    ifreq request = request_for(name);
    apply(socket.get(), SIOCGIFFLAGS, request, "flags");
    request.ifr_flags = static_cast<short>(request.ifr_flags & ~IFF_UP);
    apply(socket.get(), SIOCSIFFLAGS, request, "flags");
    if (::ioctl(socket.get(), SIOCBRDELBR, name.c_str()) != 0 && errno != ENXIO)
        throw system_error(fmt::format("cannot remove bridge '{}'", name), errno);
}

void detach_link(const std::string& bridge, const std::string& name) {
    ifreq request = request_for(bridge);
    request.ifr_ifindex = static_cast<int>(::if_nametoindex(name.c_str()));
    if (request.ifr_ifindex != 0) ::ioctl(control_socket().get(), SIOCBRDELIF, &request);
    failpoint("link.detached");
}

void remove_link(const std::string& name) {
    LinkRequest request;
    request.link.ifi_index = static_cast<int>(::if_nametoindex(name.c_str()));
    if (request.link.ifi_index == 0) return;
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_DELLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket || ::send(socket.get(), &request, sizeof request, 0) < 0)
        throw system_error(fmt::format("cannot remove network interface '{}'", name), errno);
    struct {
        nlmsghdr header;
        nlmsgerr error;
    } reply{};
    if (::recv(socket.get(), &reply, sizeof reply, 0) < 0 || reply.header.nlmsg_type != NLMSG_ERROR) return;
    if (reply.error.error != 0 && reply.error.error != -ENODEV)
        throw system_error(fmt::format("cannot remove network interface '{}'", name), -reply.error.error);
    failpoint("link.removed");
}

}  // namespace svc::lxc
