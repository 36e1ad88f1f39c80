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

void add_address(Requests& requests, const GuestNetwork& network, unsigned device) {
    const in_addr own = address_of(network.address);
    const in_addr everyone{own.s_addr | htonl(network.prefix >= 32 ? 0 : 0xffffffffU >> network.prefix)};
    ifaddrmsg address{};
    address.ifa_family = AF_INET;
    address.ifa_prefixlen = static_cast<unsigned char>(network.prefix);
    address.ifa_index = device;
    requests.begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, address);
    requests.add(IFA_LOCAL, &own, sizeof own);
    requests.add(IFA_ADDRESS, &own, sizeof own);
    requests.add(IFA_BROADCAST, &everyone, sizeof everyone);
}

void add_route(Requests& requests, const GuestNetwork& network, unsigned device) {
    const in_addr gateway = address_of(network.gateway);
    rtmsg route{};
    route.rtm_family = AF_INET;
    route.rtm_table = RT_TABLE_MAIN;
    route.rtm_protocol = RTPROT_BOOT;
    route.rtm_scope = RT_SCOPE_UNIVERSE;
    route.rtm_type = RTN_UNICAST;
    requests.begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, route);
    requests.add(RTA_GATEWAY, &gateway, sizeof gateway);
    requests.add(RTA_OIF, device);
}

}  // namespace

void make_device_pair(const GuestNetwork& network, pid_t process) {
    const unsigned bridge = ::if_nametoindex(network.bridge.c_str());
    if (bridge == 0) fail("no bridge '" + network.bridge + "'");
    const auto hardware = hardware_of(network.hardware_address);
    Requests requests;
    requests.begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, up(0));
    requests.add(IFLA_IFNAME, network.host_device);
    requests.add(IFLA_MTU, network.mtu);
    requests.add(IFLA_MASTER, bridge);
    const std::size_t info = requests.nest(IFLA_LINKINFO);
    requests.add(IFLA_INFO_KIND, "veth");
    const std::size_t data = requests.nest(IFLA_INFO_DATA);
    const std::size_t peer = requests.nest(VETH_INFO_PEER);
    requests.append(ifinfomsg{});
    requests.add(IFLA_IFNAME, network.guest_device);
    requests.add(IFLA_MTU, network.mtu);
    requests.add(IFLA_ADDRESS, hardware.data(), hardware.size());
    requests.add(IFLA_NET_NS_PID, static_cast<std::uint32_t>(process));
    for (const std::size_t open : {peer, data, info}) requests.end(open);
    requests.send("cannot make the network device '" + network.host_device + "'");
}

void remove_device_pair(const GuestNetwork& network) {
    if (::if_nametoindex(network.host_device.c_str()) == 0) return;
    Requests requests;
    requests.begin(RTM_DELLINK, 0, ifinfomsg{});
    requests.add(IFLA_IFNAME, network.host_device);
    try {
        requests.send("cannot remove the network device '" + network.host_device + "'");
    } catch (const LaunchFailure&) {
        if (::if_nametoindex(network.host_device.c_str()) != 0) throw;  // else the kernel was quicker
    }
}

void set_up_guest_device(const GuestNetwork& network) {
    const unsigned device = ::if_nametoindex(network.guest_device.c_str());
    if (device == 0) fail("no network device '" + network.guest_device + "'");
    Requests requests;
    requests.begin(RTM_NEWLINK, 0, up(loopback_index));
    requests.begin(RTM_NEWLINK, 0, up(static_cast<int>(device)));
    add_address(requests, network, device);
    add_route(requests, network, device);
    requests.send("cannot set up the network of the container");
}

void set_up_loopback() {
    Requests requests;
    requests.begin(RTM_NEWLINK, 0, up(loopback_index));
    requests.send("cannot set up the loopback device");
}

}  // namespace svc::lxc
