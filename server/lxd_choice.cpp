#include "server/lxd_choice.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/net/tls/x509.h"
#include "server/programs.h"

namespace svc::server {

namespace {

lxc::NetworkOptions network_options(const Options& options) {
    const LxcSettings& settings = options.lxc;
    lxc::NetworkOptions network;
    network.bridge = settings.bridge;
    network.subnet = settings.subnet;
    network.mtu = settings.bridge_mtu;
    network.address = settings.address;
    network.public_address = settings.public_address;
    network.guest_ports = settings.guest_ports;
    network.isolate = settings.isolate;
    network.bandwidth = settings.bandwidth;
    network.connections = settings.connections;
    network.cluster = peer_options(options);
    return network;
}

}  // namespace

// LXD's own certificate is self-signed, without a usable name: it is pinned.
Target lxd_target(const LxdSettings& lxd) {
    Target target = Target::parse(lxd.url);
    if (!target.unix_path.empty()) return target;
    if (lxd.certificate.empty() || lxd.key.empty() || lxd.server_certificate.empty())
        throw Error(ErrorCode::invalid_argument,
                    "lxd_cert, lxd_key and lxd_server_cert are needed where lxd begins with https://");
    target.identity = KeyPair{lxd.certificate, lxd.key};
    target.server_fingerprint = with_context(
        "lxd_server_cert", [&] { return parse_x509(read_file(lxd.server_certificate)).fingerprint; });
    return target;
}

std::unique_ptr<LxdRuntime> build_lxd(const Options& options, const StateDirectory& state, Clock& clock,
                                      std::function<void()> on_left) {
    LxdOptions lxd;
    lxd.target = lxd_target(options.lxd);
    lxd.state_dir = state.runtime("lxd");
    lxd.pool = options.lxd.pool;
    lxd.network = network_options(options);
    lxd.processes = options.lxc.processes;
    lxd.agent = find_program("svc-agent", options.lxc.agent, "instance-agent", "agent");
    lxd.agent_socket_dir = state.agent_sockets();
    lxd.layer_limits.unpacked = options.unpacked;
    lxd.joined = options.lxd.joined;
    lxd.on_left = std::move(on_left);
    return std::make_unique<LxdRuntime>(std::move(lxd), clock);
}

}  // namespace svc::server
