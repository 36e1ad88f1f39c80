#pragma once
// Options of svc-gateway: flags and a YAML file (docs/svc-gateway.md).
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/log.h"
#include "libsvc/streaming/sessions/session_service.h"
#include "server/cluster/etcd_settings.h"
#include "server/process/configuration.h"

namespace svc::gateway {

struct Options {
    std::filesystem::path state_dir = "/var/lib/svc-gateway";
    std::filesystem::path socket = "/run/svc-gateway/unix.socket";  // 0600: everything, accounts included
    std::string listen = "[::]:4000";                               // TLS 1.3
    std::string store = "sqlite";                                   // or "etcd"
    server::EtcdSettings etcd;
    // Of one gateway among several, on etcd: where it listens for the others, TLS; where they reach it ("":
    // as it listens); its name ("": the host name).
    std::string gateway_listen, gateway_address, gateway_name;
    Duration leader_patience = std::chrono::seconds(15);  // of requests while no gateway leads. No flag
    std::string metrics_listen = "127.0.0.1:9105";        // TLS; "none": off
    std::string metrics_user, metrics_password;           // both needed for metrics to be served
    std::string public_url;    // "https://gw.example:4000", of clients; "": as the request's Host says
    std::string instance_url;  // of instances; "": https://<first address of this machine>:<port of listen>
    std::string location = "stream-gateway";
    bool tls12 = false;
    std::filesystem::path tls_certificate, tls_key;  // "": made in state_dir
    std::vector<RegionConfig> regions;
    // An application streams that has one of these addons; none: any may.
    std::vector<std::string> streamer_addons = RegionConfig().streamer_addons;
    IceConfig ice;
    SessionLimits limits;
    std::vector<std::string> allowed_origins{"*"};  // CORS
    std::vector<std::string> frame_ancestors;       // origins whose pages may have the page in a frame
    log::Level log_level = log::Level::info;
    bool check_only = false;
};

using Invocation = process::Invocation<Options>;
// Throws invalid_argument naming flag, or file, line and key. `default_config` is read where it exists and no
// other file is named.
Invocation read_options(int argc, const char* const* argv,
                        const std::filesystem::path& default_config = "/etc/svc/svc-gateway.yaml");

}  // namespace svc::gateway
