#pragma once
// Address translation as nftables text. Pure functions. Each daemon has one table, named after its bridge;
// node ports are elements of its maps.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

struct RuleContext {
    std::string table;                          // "svc_svcbr0"
    std::string bridge;                         // "svcbr0"
    std::string network;                        // "192.168.96.0/20"
    std::string address;                        // of private services
    std::vector<std::string> public_addresses;  // of exposed services
};

struct ForwardedContainer {
    std::string address;
    std::vector<PortForward> forwards;
};

std::string table_name(std::string_view bridge);
// Replaces the whole table, in one transaction.
std::string table_text(const RuleContext& context, const std::vector<ForwardedContainer>& containers);
std::string remove_table_text(const RuleContext& context);
// One transaction for all ports of a container; empty when it has none.
std::string add_text(const RuleContext& context, const ForwardedContainer& container);
std::string remove_text(const RuleContext& context, const ForwardedContainer& container);

}  // namespace svc::lxc
