#include "libsvc/cluster/peer.h"

namespace svc {

Target peer_target(const PeerIdentity& identity, std::string_view address) {
    Target target = Target::parse("https://" + std::string(address));
    target.server_fingerprint = identity.fingerprint;
    target.identity = identity.keys;
    return target;
}

}  // namespace svc
