#include "server/settings.h"

#include <array>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/target.h"
#include "server/network_values.h"
#include "server/process/setting_values.h"

namespace svc::server {

namespace {

using namespace process;
using Key = std::string_view;

constexpr std::uint64_t least_buffered = std::uint64_t{1} << 20U;
constexpr std::uint64_t max_32 = std::numeric_limits<std::uint32_t>::max();

void apply_ports(Options& options, Key key, const Json& value) {
    const std::string text = read_text(key, value);
    const std::size_t dash = text.find('-');
    if (dash == std::string::npos) throw_invalid(key, "must be FIRST-LAST");
    const auto port = [&](const std::string& part) {
        return static_cast<std::uint16_t>(read_count(key, part, 1, 65535));
    };
    options.first_port = port(text.substr(0, dash));
    options.last_port = port(text.substr(dash + 1));
    if (options.first_port > options.last_port) throw_invalid(key, "the first port is above the last");
}

std::chrono::milliseconds read_milliseconds(Key key, const Json& value) {
    const Duration duration = read_duration(key, value);
    if (duration < std::chrono::milliseconds(1)) throw_invalid(key, "must be longer than a millisecond");
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

// The shares of those who are not trusted: together a quarter, each an eighth of that.
void apply_buffered(Options& options, Key key, const Json& value) {
    const std::uint64_t bytes = read_size(key, value);
    if (bytes < least_buffered) throw_invalid(key, "must be at least 1MB");
    options.limits.buffered_bytes = bytes;
    options.limits.untrusted_bytes = bytes / 4;
    options.limits.untrusted_bytes_each = bytes / 32;
}

// "unix:/path", "unix:///path" or "https://HOST:PORT", as Target::parse() takes it.
std::string read_lxd(Key key, const Json& value) {
    std::string url = read_text(key, value);
    if (url.starts_with("unix:/") && !url.starts_with("unix://")) url.replace(0, 5, "unix://");
    if (url.starts_with("http://")) throw_invalid(key, "must begin with unix: or https://");
    try {
        Target::parse(url);
    } catch (const Error& e) {
        throw_invalid(key, e.what());
    }
    return url;
}

double read_swap_rate(Key key, const Json& value) {
    if (!value.is_number() || !(value.as_double() >= 0 && value.as_double() <= 16))
        throw_invalid(key, "must be a number from 0 to 16");
    return value.as_double();
}

void apply_launcher(Options& options, Key key, const Json& value) {
    const std::string name = read_one_of(key, value, {"automatic", "liblxc", "own"});
    options.lxc.launcher.reset();
    if (name != "automatic")
        options.lxc.launcher = name == "own" ? lxc::LauncherKind::own : lxc::LauncherKind::liblxc;
}

void apply_log_level(Options& options, Key key, const Json& value) {
    options.log_level = log::parse_level(read_one_of(key, value, {"debug", "info", "warning", "error"}));
}

constexpr std::array flag_settings{
    Setting{"state_dir", "DIR", "database, blobs, images, certificates, logs",
            [](Options& o, Key k, const Json& v) { o.state_dir = read_path(k, v); }},
    Setting{"socket", "PATH", "local API; mode 0660, root and group svc",
            [](Options& o, Key k, const Json& v) { o.socket = read_path(k, v); }},
    Setting{"listen", "HOST:PORT", "TLS API, repeatable; none switches it off; port 0 picks a free one",
            [](Options& o, Key k, const Json& v) { o.listen = read_addresses(k, v); }, Flag::repeated},
    Setting{"metrics_listen", "HOST:PORT", "plain HTTP, /internal/1.0/metrics; none switches it off",
            [](Options& o, Key k, const Json& v) { o.metrics_listen = read_address(k, v); }},
    Setting{"hypervisor_listen", "HOST:PORT", "TLS, /1.0/metrics: what instances use; none switches it off",
            [](Options& o, Key k, const Json& v) { o.hypervisor_listen = read_address(k, v); }},
    Setting{"runtime", "NAME",
            "lxc: containers on this machine; lxd: those of an LXD on it; simulated: none, for trials",
            [](Options& o, Key k, const Json& v) {
                o.runtime = read_one_of(k, v, {"lxc", "lxd", "simulated"});
            }},
    Setting{"lxd", "URL", "with runtime lxd: unix:/PATH or https://HOST:8443, of the LXD on this machine",
            [](Options& o, Key k, const Json& v) { o.lxd.url = read_lxd(k, v); }},
    Setting{"lxd_cert", "FILE", "PEM: client certificate that LXD trusts, for https://",
            [](Options& o, Key k, const Json& v) { o.lxd.certificate = read_path(k, v); }},
    Setting{"lxd_key", "FILE", "PEM: its key",
            [](Options& o, Key k, const Json& v) { o.lxd.key = read_path(k, v); }},
    Setting{"lxd_server_cert", "FILE", "PEM: the certificate of LXD, server.crt or cluster.crt",
            [](Options& o, Key k, const Json& v) { o.lxd.server_certificate = read_path(k, v); }},
    Setting{"store", "NAME", "sqlite: embedded; etcd: a cluster",
            [](Options& o, Key k, const Json& v) {
                o.store = read_one_of(k, v, {"sqlite", "etcd"});
            }},
    Setting{"etcd_endpoints", "URL[,URL...]", "members of the cluster: http://HOST:PORT or https://HOST:PORT",
            [](Options& o, Key k, const Json& v) { o.etcd.endpoints = read_etcd_endpoints(k, v); }},
    Setting{"etcd_ca", "FILE", "PEM: who signs the certificates of etcd; default: the system's authorities",
            [](Options& o, Key k, const Json& v) { o.etcd.authorities = read_path(k, v); }},
    Setting{"etcd_cert", "FILE", "PEM: client certificate for etcd",
            [](Options& o, Key k, const Json& v) { o.etcd.certificate = read_path(k, v); }},
    Setting{"etcd_key", "FILE", "PEM: its key",
            [](Options& o, Key k, const Json& v) { o.etcd.key = read_path(k, v); }},
    Setting{"manager_name", "NAME", "of this manager among several, and of its node; default: the host name",
            [](Options& o, Key k, const Json& v) { o.node_name = read_node_name(k, v); }},
    Setting{"manager_listen", "HOST:PORT",
            "with etcd: several managers; TLS, where the others reach this one",
            [](Options& o, Key k, const Json& v) { o.manager_listen = read_address(k, v); }},
    Setting{"new_cluster", "yes|no",
            "yes: use an etcd that is empty or of another cluster; what its records do not name is removed",
            [](Options& o, Key k, const Json& v) { o.etcd.new_cluster = read_yes_no(k, v); }},
    Setting{"bridge", "NAME", "bridge of the instances' network, one per daemon",
            [](Options& o, Key k, const Json& v) { o.lxc.bridge = read_bridge(k, v); }},
    Setting{"subnet", "CIDR", "the bridge's address and the instances' network",
            [](Options& o, Key k, const Json& v) {
                o.lxc.subnet = read_subnet(k, v);
                o.lxc.subnet_given = true;
            }},
    Setting{"cluster_subnet", "CIDR",
            "of the instances of all machines of a cluster; each takes a part, unless subnet is given",
            [](Options& o, Key k, const Json& v) { o.lxc.cluster_subnet = read_network(k, v); }},
    Setting{"cluster_routes", "yes|no", "no: routes to the instances of other machines are the operator's",
            [](Options& o, Key k, const Json& v) { o.lxc.cluster_routes = read_yes_no(k, v); }},
    Setting{"guest_ports", "PORTS/PROTOCOL",
            "of this machine that every instance reaches, such as 3478/udp or 5000-5010/tcp; repeatable; "
            "none: no ports",
            [](Options& o, Key k, const Json& v) { o.lxc.guest_ports = read_guest_ports(k, v); },
            Flag::repeated},
    Setting{"name_servers", "ADDRESS", "that Android guests are told; repeatable; none: those of the guest",
            [](Options& o, Key k, const Json& v) { o.lxc.name_servers = read_name_servers(k, v); },
            Flag::repeated},
    Setting{"isolate_instances", "yes|no", "no: instances reach each other on the bridge",
            [](Options& o, Key k, const Json& v) { o.lxc.isolate = read_yes_no(k, v); }},
    Setting{"instance_bandwidth", "RATE", "of each instance, in and out, such as 100Mbit; none: not limited",
            [](Options& o, Key k, const Json& v) { o.lxc.bandwidth = read_bandwidth(k, v); }},
    Setting{"require_disk_limits", "yes|no", "yes: svcd does not start where disk_size cannot be enforced",
            [](Options& o, Key k, const Json& v) { o.require_disk_limits = read_yes_no(k, v); }},
    Setting{"agent", "PATH", "the svc-agent program put into instances",
            [](Options& o, Key k, const Json& v) { o.lxc.agent = read_path(k, v); }},
    Setting{"log_level", "LEVEL", "debug, info, warning or error", apply_log_level},
};

constexpr std::array lxc_settings{
    Setting{"node_prefix", "", "size of the part of cluster_subnet that each machine takes",
            [](Options& o, Key k, const Json& v) {
                o.lxc.node_prefix = static_cast<unsigned>(read_count(k, v, 8, 30));
            }},
    Setting{"lxc_launcher", "", "what starts containers: automatic, liblxc or own", apply_launcher},
    Setting{"lxc_helper", "", "the svc-lxc program, for the launcher liblxc",
            [](Options& o, Key k, const Json& v) { o.lxc.helper = read_path(k, v); }},
    Setting{"launch_helper", "", "the svc-launch program, for the launcher own",
            [](Options& o, Key k, const Json& v) { o.lxc.launch_helper = read_path(k, v); }},
    Setting{"bridge_mtu", "", "MTU of the bridge",
            [](Options& o, Key k, const Json& v) {
                o.lxc.bridge_mtu = static_cast<std::uint32_t>(read_count(k, v, 576, 65535));
            }},
    Setting{"address", "", "address from which private services are forwarded",
            [](Options& o, Key k, const Json& v) { o.lxc.address = read_ip(k, v); }},
    Setting{"public_address", "", "address from which exposed services are forwarded",
            [](Options& o, Key k, const Json& v) { o.lxc.public_address = read_ip(k, v); }},
    Setting{"id_base", "", "first host id of the owners of files on disk; 0: from /etc/subuid",
            [](Options& o, Key k, const Json& v) {
                o.lxc.id_base = static_cast<std::uint32_t>(read_count(k, v, 0, max_32));
            }},
    Setting{"id_count", "", "ids per container",
            [](Options& o, Key k, const Json& v) {
                o.lxc.id_count = static_cast<std::uint32_t>(read_count(k, v, 65536, max_32));
            }},
    Setting{"instance_connections", "", "of each instance to others at once; 0: not limited",
            [](Options& o, Key k, const Json& v) {
                o.lxc.connections = static_cast<std::uint32_t>(read_count(k, v, 0, 1'000'000));
            }},
    Setting{"id_ranges", "", "containers that may have user ids of their own at once; 0: all share one range",
            [](Options& o, Key k, const Json& v) {
                o.lxc.id_ranges = static_cast<std::uint32_t>(read_count(k, v, 0, 65535));
            }},
    Setting{"id_ranges_from", "", "first host id of the ranges of containers",
            [](Options& o, Key k, const Json& v) {
                o.lxc.id_ranges_from = static_cast<std::uint32_t>(read_count(k, v, 65536, max_32));
            }},
    Setting{"processes", "", "processes an instance may have",
            [](Options& o, Key k, const Json& v) {
                o.lxc.processes = static_cast<std::uint32_t>(read_count(k, v, 16, 4'194'304));
            }},
    Setting{"swap_rate", "", "share of its memory that an instance may have swapped out besides",
            [](Options& o, Key k, const Json& v) { o.lxc.swap_rate = read_swap_rate(k, v); }},
    Setting{"bytes_per_file", "", "of an instance's disk, which may have as many files; 0: any number",
            [](Options& o, Key k, const Json& v) { o.lxc.bytes_per_file = read_size(k, v); }},
    Setting{"io_read_bytes", "", "bytes that an instance may read from the disk in a second; 0: not limited",
            [](Options& o, Key k, const Json& v) { o.lxc.io.read_bytes = read_size(k, v); }},
    Setting{"io_write_bytes", "", "the same for writing",
            [](Options& o, Key k, const Json& v) { o.lxc.io.write_bytes = read_size(k, v); }},
    Setting{"io_reads", "", "reads from the disk in a second; 0: not limited",
            [](Options& o, Key k, const Json& v) { o.lxc.io.read_operations = read_count(k, v, 0, max_32); }},
    Setting{
        "io_writes", "", "writes to the disk in a second; 0: not limited",
        [](Options& o, Key k, const Json& v) { o.lxc.io.write_operations = read_count(k, v, 0, max_32); }},
};

constexpr std::array lxd_settings{
    Setting{"lxd_pool", "", "LXD's storage pool for the disks; default: that of its profile `default`",
            [](Options& o, Key k, const Json& v) { o.lxd.pool = read_text(k, v); }},
    Setting{"lxd_cluster", "", "join: the LXD of this machine joins those of the other managers; none",
            [](Options& o, Key k, const Json& v) {
                o.lxd.join = read_one_of(k, v, {"join", "none"}) == "join";
            }},
    Setting{"lxd_pool_driver", "", "dir, btrfs or zfs: of the pool that is made where there is none",
            [](Options& o, Key k, const Json& v) {
                o.lxd.pool_driver = read_one_of(k, v, {"dir", "btrfs", "zfs"});
            }},
    Setting{"lxd_pool_size", "", "of this machine's part of that pool in a file, such as 30GiB",
            [](Options& o, Key k, const Json& v) { o.lxd.pool_size = read_text(k, v); }},
    Setting{"lxd_pool_source", "", "device or folder of this machine's part of that pool",
            [](Options& o, Key k, const Json& v) { o.lxd.pool_source = read_text(k, v); }},
};

constexpr std::array simulated_settings{
    Setting{"simulated_start_delay", "", "how long a start takes",
            [](Options& o, Key k, const Json& v) { o.simulated.start_delay = read_duration(k, v); }},
    Setting{"simulated_stop_delay", "", "how long a stop takes",
            [](Options& o, Key k, const Json& v) { o.simulated.stop_delay = read_duration(k, v); }},
    Setting{"simulated_fail_share", "", "share of starts that fail, 0 to 1",
            [](Options& o, Key k, const Json& v) { o.simulated.fail_share = read_share(k, v); }},
    Setting{"simulated_cpus", "", "CPUs of each simulated machine",
            [](Options& o, Key k, const Json& v) {
                o.simulated.cpus = static_cast<std::uint32_t>(read_count(k, v, 1, 1'000'000));
            }},
    Setting{"simulated_nodes", "", "how many simulated machines, sim1, sim2 ...; 0: one, named like this one",
            [](Options& o, Key k, const Json& v) {
                o.simulated.nodes = static_cast<std::uint32_t>(read_count(k, v, 0, 10'000));
            }},
    Setting{"simulated_memory", "", "memory of each simulated machine",
            [](Options& o, Key k, const Json& v) { o.simulated.memory = read_size(k, v); }},
};

constexpr std::array instance_settings{
    Setting{"manager_address", "", "HOST:PORT that other managers connect to; default: manager_listen",
            [](Options& o, Key k, const Json& v) { o.manager_address = read_address(k, v); }},
    Setting{"node_name", "", "name of this machine's node; default: the host name",
            [](Options& o, Key k, const Json& v) { o.node_name = read_node_name(k, v); }},
    Setting{"port_range", "", "node ports that services of instances get", apply_ports},
    Setting{"cpu_allocation_rate", "", "overcommit of CPUs, for this machine's node at its first start",
            [](Options& o, Key k, const Json& v) { o.cpu_allocation_rate = read_rate(k, v); }},
    Setting{"memory_allocation_rate", "", "overcommit of memory, likewise",
            [](Options& o, Key k, const Json& v) { o.memory_allocation_rate = read_rate(k, v); }},
    Setting{"boot_timeout", "", "from launch to running",
            [](Options& o, Key k, const Json& v) { o.boot_timeout = read_duration(k, v); }},
    Setting{"stop_grace", "", "how long a guest may take to shut down before it is killed",
            [](Options& o, Key k, const Json& v) { o.stop_grace = read_duration(k, v); }},
    Setting{"linger", "", "an instance that stopped by itself is removed after this",
            [](Options& o, Key k, const Json& v) { o.linger = read_duration(k, v); }},
    Setting{"max_log", "", "bytes kept of each log of a failed instance",
            [](Options& o, Key k, const Json& v) { o.max_log = read_size(k, v); }},
};

constexpr std::array work_settings{
    Setting{"shutdown_grace", "", "how long running work may go on after SIGTERM",
            [](Options& o, Key k, const Json& v) { o.shutdown_grace = read_duration(k, v); }},
    Setting{"operation_workers", "", "threads of background work",
            [](Options& o, Key k, const Json& v) { o.operation_workers = read_count(k, v, 2, 256); }},
    Setting{"bootstraps", "", "applications bootstrapped at once",
            [](Options& o, Key k, const Json& v) { o.bootstraps = read_count(k, v, 1, 1000); }},
    Setting{"operation_queue", "", "operations waiting for one of them",
            [](Options& o, Key k, const Json& v) { o.operation_queue = read_count(k, v, 1, 1'000'000); }},
    Setting{"keep_operations", "", "finished operations kept",
            [](Options& o, Key k, const Json& v) { o.keep_operations = read_count(k, v, 0, 1'000'000); }},
    Setting{"keep_operations_for", "", "and for how long",
            [](Options& o, Key k, const Json& v) { o.keep_operations_for = read_duration(k, v); }},
    Setting{"event_queue_bytes", "", "a slower subscriber of events is disconnected",
            [](Options& o, Key k, const Json& v) { o.event_queue_bytes = read_size(k, v); }},
    Setting{
        "event_queue_messages", "", "the same, in messages",
        [](Options& o, Key k, const Json& v) { o.event_queue_messages = read_count(k, v, 1, 10'000'000); }},
};

constexpr std::array server_settings{
    Setting{"io_threads", "", "threads that serve the connections",
            [](Options& o, Key k, const Json& v) {
                o.io_threads = static_cast<unsigned>(read_count(k, v, 1, 64));
            }},
    Setting{"workers", "", "threads that run requests",
            [](Options& o, Key k, const Json& v) { o.workers = read_count(k, v, 1, 256); }},
    Setting{"request_queue", "", "requests waiting for one of them",
            [](Options& o, Key k, const Json& v) { o.request_queue = read_count(k, v, 1, 1'000'000); }},
    Setting{
        "max_requests_per_second", "",
        "of each address or instance that is not trusted; more are delayed; 0: not limited",
        [](Options& o, Key k, const Json& v) { o.max_requests_per_second = read_count(k, v, 0, 1'000'000); }},
    Setting{"max_body", "", "bytes of a JSON body",
            [](Options& o, Key k, const Json& v) { o.max_body = read_size(k, v); }},
    Setting{"max_upload", "", "bytes of an uploaded package",
            [](Options& o, Key k, const Json& v) { o.max_upload = read_size(k, v); }},
    Setting{"blob_dir", "", "folder of packages that all managers share; default: a copy at two managers",
            [](Options& o, Key k, const Json& v) { o.blob_dir = read_path(k, v); }},
    Setting{"disk_reserve", "", "bytes that uploads, unpacking and copies leave free",
            [](Options& o, Key k, const Json& v) { o.disk_reserve = read_size(k, v); }},
    Setting{"max_unpacked", "", "bytes that an image may unpack to",
            [](Options& o, Key k, const Json& v) { o.unpacked.max_bytes = read_size(k, v); }},
    Setting{"max_unpack_ratio", "", "how many times its size an image beyond 1 GB may unpack to",
            [](Options& o, Key k, const Json& v) {
                o.unpacked.expansion.max_times = read_count(k, v, 1, 1'000'000);
            }},
    Setting{
        "max_header", "", "bytes of a request's header",
        [](Options& o, Key k, const Json& v) { o.limits.header_bytes = read_count(k, v, 1024, 1U << 20U); }},
    Setting{"max_header_fields", "", "fields of a request's header",
            [](Options& o, Key k, const Json& v) { o.limits.header_count = read_count(k, v, 8, 10'000); }},
    Setting{"header_timeout", "", "from connecting to the end of the header",
            [](Options& o, Key k, const Json& v) { o.limits.header_time = read_milliseconds(k, v); }},
    Setting{"body_timeout", "", "between two pieces of a body",
            [](Options& o, Key k, const Json& v) { o.limits.body_idle_time = read_milliseconds(k, v); }},
    Setting{"write_timeout", "", "until a client takes more of a response",
            [](Options& o, Key k, const Json& v) { o.limits.write_idle_time = read_milliseconds(k, v); }},
    Setting{"keep_alive", "", "how long an idle connection stays",
            [](Options& o, Key k, const Json& v) { o.limits.keep_alive_time = read_milliseconds(k, v); }},
    Setting{
        "max_connections", "", "connections at once",
        [](Options& o, Key k, const Json& v) { o.limits.max_connections = read_count(k, v, 1, 1'000'000); }},
    Setting{"reserved_connections", "", "of these, for root on the local socket; a quarter at most",
            [](Options& o, Key k, const Json& v) {
                o.limits.reserved_connections = read_count(k, v, 0, 1'000'000);
            }},
    Setting{"max_peer_connections", "", "connections of an address that is not trusted",
            [](Options& o, Key k, const Json& v) { o.peer_connections = read_count(k, v, 1, 1'000'000); }},
    Setting{
        "max_instance_connections", "", "connections of an instance",
        [](Options& o, Key k, const Json& v) { o.instance_connections = read_count(k, v, 1, 1'000'000); }},
    Setting{"max_buffered", "", "bytes of requests in memory; a quarter for all that are not trusted",
            apply_buffered},
    Setting{"min_rate", "", "bytes a second that a client sends or takes on average; 0: not limited",
            [](Options& o, Key k, const Json& v) { o.limits.min_rate = read_size(k, v); }},
    Setting{
        "max_websockets", "", "WebSockets at once",
        [](Options& o, Key k, const Json& v) { o.limits.max_websockets = read_count(k, v, 1, 1'000'000); }},
    Setting{"max_uploads", "", "uploads at once",
            [](Options& o, Key k, const Json& v) { o.limits.uploads_at_once = read_count(k, v, 1, 10'000); }},
};

template <std::size_t... Sizes>
constexpr auto joined(const std::array<Setting, Sizes>&... tables) {
    std::array<Setting, (Sizes + ...)> all{};
    std::size_t next = 0;
    (
        [&] {
            for (const Setting& setting : tables) all[next++] = setting;
        }(),
        ...);
    return all;
}

constexpr auto all_settings = joined(flag_settings, lxc_settings, lxd_settings, simulated_settings,
                                     instance_settings, work_settings, server_settings);

}  // namespace

std::span<const Setting> settings() {
    return all_settings;
}

}  // namespace svc::server
