#include "libsvc/cluster/network_part.h"

#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

bool overlaps_any(const lxc::Subnet& part, const std::vector<lxc::Subnet>& all) {
    return std::ranges::any_of(all, [&](const lxc::Subnet& other) { return part.overlaps(other); });
}

// Unlike a bridge's address, that of a network may end with zeros.
lxc::Subnet parse_network(const std::string& text) {
    const std::size_t slash = text.find('/');
    const auto address = lxc::parse_ipv4(text.substr(0, slash));
    unsigned prefix = 0;
    if (slash != std::string::npos)
        std::from_chars(text.data() + slash + 1, text.data() + text.size(), prefix);
    if (!address || prefix < 8 || prefix > 30)
        throw Error(ErrorCode::invalid_argument, quoted(text) + " is not a network such as 10.64.0.0/12");
    return {*address, prefix};
}

}  // namespace

Json part_to_json(const PeerNetwork& part) {
    JsonArray addresses(part.addresses.begin(), part.addresses.end());
    return Json::object(
        {{"subnet", part.subnet}, {"address", part.address}, {"addresses", std::move(addresses)}});
}

PeerNetwork part_from_json(const Json& json) {
    PeerNetwork part{json.at("subnet").as_string(), json.at("address").as_string(), {}};
    lxc::parse_subnet(part.subnet);
    for (const Json& address : json.at("addresses").as_array()) part.addresses.push_back(address.as_string());
    return part;
}

std::string choose_part(const NetworkPlan& plan, const std::string& former,
                        const std::vector<lxc::Subnet>& others, const std::vector<lxc::Subnet>& local) {
    if (!plan.fixed.empty()) {
        if (overlaps_any(lxc::parse_subnet(plan.fixed), others))
            throw Error(ErrorCode::conflict,
                        "subnet " + quoted(plan.fixed) + " overlaps that of another manager");
        return plan.fixed;
    }
    if (!former.empty()) return former;
    const lxc::Subnet whole = parse_network(plan.cluster_subnet);
    if (plan.node_prefix < whole.prefix || plan.node_prefix > 30)
        throw Error(ErrorCode::invalid_argument, "parts of " + std::to_string(plan.node_prefix) +
                                                     " bits do not fit " + quoted(plan.cluster_subnet));
    const std::uint64_t step = std::uint64_t{1} << (32 - plan.node_prefix);
    const std::uint64_t begin = whole.address & whole.mask();
    for (std::uint64_t at = begin; at < begin + (std::uint64_t{1} << (32 - whole.prefix)); at += step) {
        const lxc::Subnet part{static_cast<std::uint32_t>(at) + 1, plan.node_prefix};
        if (!overlaps_any(part, others) && !overlaps_any(part, local))
            return lxc::ipv4_text(part.address) + "/" + std::to_string(part.prefix);
    }
    throw Error(ErrorCode::exhausted, "no part of " + quoted(plan.cluster_subnet) + " is free");
}

}  // namespace svc
