#include "libsvc/runtime/lxc/launcher/guest_network.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>

#include <array>
#include <cstdio>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/requests.h"

namespace svc::lxc {

namespace {

constexpr int loopback_index = 1;
constexpr unsigned make_new = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

in_addr address_of(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1)
        throw LaunchFailure("configuration: no IPv4 address: '" + text + "'");
    return address;
}

std::array<unsigned char, 6> hardware_of(const std::string& text) {
    std::array<unsigned char, 6> b{};
    if (std::sscanf(text.c_str(), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &b[0], &b[1], &b[2], &b[3], &b[4],
                    &b[5]) != 6)
        throw LaunchFailure("configuration: no hardware address: '" + text + "'");
    return b;
}

ifinfomsg up(int index) {
    ifinfomsg link{};
    link.ifi_index = index;
    link.ifi_flags = IFF_UP;
    link.ifi_change = IFF_UP;
    return link;
}

NetlinkRequest address_request(const GuestNetwork& network, unsigned device) {
    const in_addr own = address_of(network.address);
    const in_addr everyone{own.s_addr | htonl(network.prefix >= 32 ? 0 : 0xffffffffU >> network.prefix)};
    ifaddrmsg address{};
    address.ifa_family = AF_INET;
    address.ifa_prefixlen = static_cast<unsigned char>(network.prefix);
    address.ifa_index = device;
    NetlinkRequest request(RTM_NEWADDR, make_new, address);
    request.add(IFA_LOCAL, own.s_addr);
    request.add(IFA_ADDRESS, own.s_addr);
    request.add(IFA_BROADCAST, everyone.s_addr);
    return request;
}

NetlinkRequest route_request(const GuestNetwork& network, unsigned device) {
    const in_addr gateway = address_of(network.gateway);
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_protocol = RTPROT_BOOT;
    route.rtm_scope = RT_SCOPE_UNIVERSE;
    route.rtm_type = RTN_UNICAST;
    NetlinkRequest request(RTM_NEWROUTE, make_new, route);
    request.add(RTA_GATEWAY, gateway.s_addr);
    request.add(RTA_OIF, device);
    return request;
}

NetlinkRequest pair_request(const GuestNetwork& network, unsigned bridge, pid_t process) {
    const auto hardware = hardware_of(network.hardware_address);
    NetlinkRequest request(RTM_NEWLINK, make_new, up(0));
    request.add(IFLA_IFNAME, network.host_device);
    request.add(IFLA_MTU, network.mtu);
    request.add(IFLA_MASTER, bridge);
    const std::size_t info = request.open(IFLA_LINKINFO);
    request.add(IFLA_INFO_KIND, "veth");
    const std::size_t data = request.open(IFLA_INFO_DATA);
    const std::size_t peer = request.open(VETH_INFO_PEER);
    request.append(ifinfomsg{});
    request.add(IFLA_IFNAME, network.guest_device);
    request.add(IFLA_MTU, network.mtu);
    request.add(IFLA_ADDRESS, hardware.data(), hardware.size());
    request.add(IFLA_NET_NS_PID, static_cast<std::uint32_t>(process));
    for (const std::size_t open : {peer, data, info}) request.close(open);
    return request;
}

}  // namespace

void make_device_pair(const GuestNetwork& network, pid_t process) {
    const unsigned bridge = ::if_nametoindex(network.bridge.c_str());
    if (bridge == 0) fail("no bridge '" + network.bridge + "'");
    send_requests({pair_request(network, bridge, process)},
                  "cannot make the network device '" + network.host_device + "'");
}

void remove_device_pair(const GuestNetwork& network) {
    if (::if_nametoindex(network.host_device.c_str()) == 0) return;
    NetlinkRequest request(RTM_DELLINK, NLM_F_ACK, ifinfomsg{});
    request.add(IFLA_IFNAME, network.host_device);
    try {
        send_requests({request}, "cannot remove the network device '" + network.host_device + "'");
    } catch (const LaunchFailure&) {
        if (::if_nametoindex(network.host_device.c_str()) != 0) throw;  // else the kernel was quicker
    }
}

void set_up_guest_device(const GuestNetwork& network) {
    const unsigned device = ::if_nametoindex(network.guest_device.c_str());
    if (device == 0) fail("no network device '" + network.guest_device + "'");
    send_requests({{RTM_NEWLINK, NLM_F_ACK, up(loopback_index)},
                   {RTM_NEWLINK, NLM_F_ACK, up(static_cast<int>(device))},
                   address_request(network, device),
                   route_request(network, device)},
                  "cannot set up the network of the container");
}

void set_up_loopback() {
    send_requests({{RTM_NEWLINK, NLM_F_ACK, up(loopback_index)}}, "cannot set up the loopback device");
}

}  // namespace svc::lxc
