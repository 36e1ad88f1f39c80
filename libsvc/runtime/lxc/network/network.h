#pragma once
// The containers' network on this machine: one bridge, and rules.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/network/addresses.h"
#include "libsvc/runtime/lxc/network/nftables.h"
#include "libsvc/runtime/lxc/network/peers.h"
#include "libsvc/runtime/lxc/network/rules.h"
#include "libsvc/runtime/lxc/network/rules_watch.h"

namespace svc::lxc {

struct NetworkOptions {
    std::string bridge, subnet;
    unsigned mtu = 1500;
    std::string address, public_address;  // empty: of the default route's interface; same as `address`
    std::vector<GuestPorts> guest_ports;  // these as in LxcOptions
    bool isolate = true;
    std::uint64_t bandwidth = 0;
    std::uint32_t connections = 0;
    PeerOptions cluster;
};

// Thread-safe. From rebuild() to tear_down() it makes the rules again when somebody else has removed some.
class Network {
  public:
    // Makes the bridge; the rules stay as they are until rebuild(). Throws conflict when the subnet is in use
    // on another interface.
    explicit Network(const NetworkOptions& options);
    ~Network();

    // Lets container `id` use the bridge with its addresses and sets its ports, in one transaction; replaces
    // what it had. Before this, and after remove(), nothing passes to it or from it.
    void add(const std::string& id, const ConnectedContainer& container);
    void remove(const std::string& id);  // does nothing when `id` has nothing
    // The first call, with the containers that run: replaces the whole table in one transaction.
    void rebuild(std::map<std::string, ConnectedContainer> containers);
    // The other machines of the cluster, all of them: makes rules and routes as they are now. To be called
    // again from time to time, as the kernel drops the routes of an interface that is switched off. Routes
    // that cannot be made are told in the log, and tried again with the next call. Before rebuild() it only
    // remembers them. Throws internal when the rules cannot be changed.
    void set_peers(std::vector<PeerNetwork> peers);
    void tear_down();

    const Subnet& subnet() const { return subnet_; }
    const std::string& address() const { return rules_.address; }
    const std::string& public_address() const { return public_address_; }  // of the options
    // Exposed services are forwarded from this address from now on, or where it is none of this machine's,
    // from address(). Throws internal when the rules cannot be changed.
    void forward_from(const std::string& public_address);
    std::string forwards_from() const;

  private:
    struct Tables {  // locked while nftables changes them
        std::map<std::string, ConnectedContainer> containers;
        std::string forwards_from;
        std::optional<std::string> listing;  // what the kernel tells of the tables; absent: none are wanted
        std::vector<PeerNetwork> peers;
        PeerPlan plan;  // what the rules have of them
    };
    std::string listing();
    void replace(Tables& tables);
    std::string public_addresses_of(const Tables& tables) const;
    void change(Tables& tables, const std::string& commands);
    void restore();
    PeerPlan plan_for(const Tables& tables) const;
    void drop_routes(const std::vector<PeerRoute>& wanted) const;
    void make_routes(const std::vector<PeerRoute>& wanted) const;

    Subnet subnet_;
    std::string public_address_;
    const bool makes_routes_;
    RuleContext rules_;
    Guarded<Tables> tables_;
    Nftables nftables_;
    RulesWatch watch_;  // last: its thread uses all above
};

}  // namespace svc::lxc
