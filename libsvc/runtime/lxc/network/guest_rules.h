#pragma once
// What guests may send, and whom they reach, as nftables text. Pure functions.
#include <string>
#include <string_view>

#include "libsvc/runtime/lxc/network/rules.h"

namespace svc::lxc {

// All devices of guests on this bridge have names that begin so, and no other device has.
std::string device_prefix(std::string_view bridge);
// Derived from the address, so that ARP entries of an address that is used again stay right.
std::string hardware_address(std::string_view ipv4);

// Bridges of all daemons are in this group of network devices.
constexpr unsigned bridge_group = 0x737663;

// The table of the family `bridge`: frames of a device of a guest pass only with the addresses that the set
// `guests` has for it, and only frames to these addresses pass to the device.
std::string ties_table_text(const RuleContext& context);
// The element of that set.
std::string tie_text(const RuleContext& context, const ConnectedContainer& container, std::string_view verb);
// The endpoints that it may reach on this machine; empty: none.
std::string allowed_text(const RuleContext& context, const ConnectedContainer& container,
                         std::string_view verb);
// Sets and chains of the table of the family `inet`: the host and other guests are closed to guests.
std::string closing_text(const RuleContext& context);

}  // namespace svc::lxc
