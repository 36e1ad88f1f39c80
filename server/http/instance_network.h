#pragma once
// Which clients come from the network of the instances.
#include <cstdint>
#include <functional>
#include <string>

#include "libsvc/net/http/request.h"

namespace svc::server {

// Whether a client is an instance of another machine of the cluster. Reads memory only.
using FromElsewhere = std::function<bool(const Peer&)>;

// Immutable.
class InstanceNetwork {
  public:
    InstanceNetwork() = default;  // of a runtime without a bridge: contains nobody
    // The bridge's address with the length of its network ("192.168.100.1/20"), and the bridge's name. Throws
    // invalid_argument.
    InstanceNetwork(const std::string& subnet, std::string bridge, FromElsewhere elsewhere = {});
    // The address is in the network, or is a link-local one on the bridge, or the client comes from
    // elsewhere. Clients of a Unix socket do not, nor does the machine itself at the bridge's address.
    bool contains(const Peer& peer) const;

  private:
    std::uint32_t network_ = 0, mask_ = 0, own_ = 0;  // host byte order; no mask: no network
    const std::string bridge_;
    const FromElsewhere elsewhere_;
};

}  // namespace svc::server
