#include "server/http/instance_network.h"

#include <arpa/inet.h>

#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

std::optional<std::uint32_t> ipv4_number(const std::string& address) {
    in_addr parsed{};
    if (inet_pton(AF_INET, address.c_str(), &parsed) != 1) return std::nullopt;
    return ntohl(parsed.s_addr);
}

}  // namespace

InstanceNetwork::InstanceNetwork(const std::string& subnet, std::string bridge, FromElsewhere elsewhere)
    : bridge_(std::move(bridge)), elsewhere_(std::move(elsewhere)) {
    const std::size_t slash = subnet.find('/');
    const auto address = ipv4_number(subnet.substr(0, slash));
    const int prefix = slash == std::string::npos ? -1 : std::atoi(subnet.c_str() + slash + 1);
    if (!address || prefix < 1 || prefix > 32)
        throw Error(ErrorCode::invalid_argument, "subnet " + quoted(subnet) + " is malformed");
    mask_ = ~std::uint32_t{0} << (32 - prefix);
    network_ = *address & mask_;
    own_ = *address;
}

bool InstanceNetwork::contains(const Peer& peer) const {
    if (mask_ == 0 || peer.transport == Transport::unix_socket) return false;
    if (!bridge_.empty() && peer.address.ends_with("%" + bridge_)) return true;
    if (elsewhere_ && elsewhere_(peer)) return true;
    const auto address = ipv4_number(peer.address);
    return address && *address != own_ && (*address & mask_) == network_;
}

}  // namespace svc::server
