// The tests of the network over two machines, skipped where there is no root, and the program that has it on
// each of them.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "libsvc/base/json.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"
#include "libsvc/runtime/lxc/network/network.h"
#include "tests/support/skip.h"

using namespace svc;

namespace {

std::vector<PeerNetwork> peers_of(const Json& list) {
    std::vector<PeerNetwork> peers;
    for (const Json& peer : list.as_array())
        peers.push_back({peer.at("subnet").as_string(), peer.at("address").as_string(), {}});
    return peers;
}

void obey(lxc::Network& network, lxc::ConnectedContainer& guest, const Json& command) {
    if (const Json* const peers = command.find("peers")) network.set_peers(peers_of(*peers));
    if (command.find("tear_down") != nullptr) network.tear_down();
    if (const Json* const port = command.find("forward")) {
        PortForward forward;
        forward.port = static_cast<std::uint16_t>(port->as_int());
        forward.node_port = 10950;
        forward.tcp = true;
        guest.forwards = {forward};
        network.add("g", guest);
    }
}

int keep_network(const Json& told) {
    lxc::NetworkOptions options;
    options.bridge = "svcbr0";
    options.subnet = told.at("subnet").as_string();
    options.address = told.at("address").as_string();
    options.isolate = told.at("isolate").as_bool();
    options.cluster.peers = peers_of(told.at("peers"));
    lxc::Network network(options);
    lxc::ConnectedContainer guest{lxc::device_prefix("svcbr0") + "g", told.at("guest").as_string(), {}, {}};
    network.rebuild({{"g", guest}});
    std::cout << "ok" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        obey(network, guest, Json::parse(line));
        std::cout << "ok" << std::endl;
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 3 && std::string_view(arguments[1]) == "--network")
        return keep_network(Json::parse(arguments[2]));
    if (::geteuid() != 0 || ::access("/usr/sbin/nft", X_OK) != 0) {
        std::cerr << "skipped: needs root and nftables\n";
        return 77;
    }
    return svc::test::run_tests(count, arguments);
}
