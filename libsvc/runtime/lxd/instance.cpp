#include "libsvc/runtime/lxd/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/container/device_nodes.h"
#include "libsvc/runtime/lxc/container/seccomp.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"
#include "libsvc/runtime/lxd/connection.h"

namespace svc::lxd {

namespace {

constexpr std::uint32_t ids_of_container = 65536;
constexpr const char* yes = "true";

std::string first_program(const ContainerSpec& spec, bool alone) {
    if (alone) return fmt::format("/{} pause", lxc::agent_path);
    const std::string init = spec.first_program();
    return spec.boot_by_agent ? fmt::format("/{} --boot -- {}", lxc::agent_path, init) : init;
}

std::string cpu_share(double cpus) {
    return cpus == 0 ? "" : fmt::format("{}ms/100ms", std::max(1L, std::lround(cpus * 100)));
}

// Each line of liblxc's configuration is a command of its own.
void check_is_line(std::string_view what, std::string_view value) {
    if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
        throw Error(ErrorCode::invalid_argument, fmt::format("{} has control characters", what));
}

Json bound(const std::filesystem::path& source, std::string_view path) {
    return Json::object({{"type", "disk"},
                         {"source", source.native()},
                         {"path", "/" + std::string(path)},
                         {"readonly", yes}});
}

// LXD makes the node below its own folder, with the container's root as owner.
Json render_device(const std::string& gpu) {
    const std::string path = "/dev/dri/" + lxc::render_node(gpu);
    return Json::object({{"type", "unix-char"}, {"source", path}, {"path", path}, {"mode", "0666"}});
}

bool is_set(const Json& config, const char* key) {
    return text_of(config, key) == yes;
}

}  // namespace

std::string instance_name(std::string_view id) {
    return "svc-" + std::string(id);
}

std::string instance_path(std::string_view id) {
    return "/1.0/instances/" + percent_encode(instance_name(id));
}

std::optional<Instance> parse_instance(const Json& record, std::string_view service) {
    const Json& config = record.at("config");
    if (text_of(config, service_key) != service) return std::nullopt;
    Instance instance;
    instance.name = text_of(record, "name");
    instance.location = text_of(record, "location");
    instance.status = text_of(record, "status");
    instance.stored = lxc::stored_spec_from_json(Json::parse(text_of(config, spec_key)));
    instance.id_base = static_cast<std::uint32_t>(std::stoul("0" + text_of(config, id_base_key)));
    instance.ready = is_set(config, ready_key);
    instance.captured = is_set(config, captured_key);
    instance.once = is_set(config, once_key);
    if (const Json* nic = record.at("devices").find("eth0"))
        instance.hardware_address = text_of(*nic, "hwaddr");
    instance.started_before = !text_of(config, "volatile.last_state.power").empty();
    if (instance.running()) instance.started_at = from_rfc3339(text_of(record, "last_used_at"));
    return instance;
}

std::string raw_lines(const ContainerSpec& spec, const LxdOptions& options, bool alone) {
    const lxc::Subnet subnet = lxc::parse_subnet(options.network.subnet);
    const std::string init = first_program(spec, alone);
    check_is_line("init", init);
    return fmt::format(
        "lxc.net.0.ipv4.address = {}/{}\nlxc.net.0.ipv4.gateway = {}\n"
        "lxc.init.cmd = {}\nlxc.pty.max = 1024\n",
        spec.address, subnet.prefix, lxc::ipv4_text(subnet.address), init);
}

Json config_of(const lxc::StoredSpec& stored, const LxdOptions& options) {
    const ContainerSpec& spec = stored.spec;
    const std::uint32_t processes = spec.processes == 0 ? options.processes : spec.processes;
    const bool pinned = spec.pin_cpus && spec.cpus >= 1;
    return Json::object(
        {{service_key, options.network.bridge},
         {spec_key, to_json(stored).dump()},
         {"limits.cpu", pinned ? std::to_string(std::lround(spec.cpus)) : ""},
         {"limits.cpu.allowance", pinned ? "" : cpu_share(spec.cpus)},
         {"limits.memory", spec.memory_bytes == 0 ? "" : fmt::format("{}B", spec.memory_bytes)},
         {"limits.processes", std::to_string(processes)},
         {init_key, raw_lines(spec, options, false)}});
}

Json devices_of(const lxc::StoredSpec& stored, const LxdOptions& options, const std::string& pool) {
    const ContainerSpec& spec = stored.spec;
    Json root = Json::object({{"type", "disk"}, {"path", "/"}, {"pool", pool}});
    if (spec.disk_bytes != 0) root.set("size", fmt::format("{}B", spec.disk_bytes));
    Json devices = Json::object({{"root", std::move(root)},
                                 {"eth0", Json::object({{"type", "nic"},
                                                        {"nictype", "bridged"},
                                                        {"parent", options.network.bridge},
                                                        {"name", "eth0"},
                                                        {"hwaddr", lxc::hardware_address(spec.address)},
                                                        {"mtu", std::to_string(options.network.mtu)},
                                                        {"host_name", device_of(spec.id, options)}})}});
    devices.set("agent", bound(options.agent, lxc::agent_path));
    if (!options.agent_socket_dir.empty())
        devices.set("reports", bound(options.agent_socket_dir, lxc::socket_dir_path));
    for (const std::string& gpu : spec.gpus) devices.set("gpu-" + gpu, render_device(gpu));
    return devices;
}

Json creation_of(const lxc::StoredSpec& stored, const LxdOptions& options, const std::string& pool,
                 const std::string& fingerprint, std::uint32_t id_base) {
    Json config = config_of(stored, options);
    for (const auto& [key, value] : JsonMembers(config.as_object()))
        if (value.as_string().empty()) config.erase(key);
    config.set("boot.autostart", "false");
    config.set("security.devlxd", "false");  // it shows the keys user.* to the guest
    config.set("security.idmap.isolated", yes);
    config.set(id_base_key, std::to_string(id_base));
    config.set("raw.seccomp", lxc::seccomp_profile);
    return Json::object({{"name", instance_name(stored.spec.id)},
                         {"type", "container"},
                         {"profiles", Json::array()},
                         {"source", Json::object({{"type", "image"}, {"fingerprint", fingerprint}})},
                         {"config", std::move(config)},
                         {"devices", devices_of(stored, options, pool)}});
}

std::string device_of(std::string_view id, const LxdOptions& options) {
    return lxc::device_name(options.network.bridge, lxc::Layout{options.state_dir}, id);
}

std::vector<std::uint32_t> id_bases(std::string_view subuid) {
    std::uint64_t from = 1'000'000, count = 1'000'000'000;  // what LXD takes where root has no entry
    for (const std::string& line : split(subuid, '\n')) {
        const std::vector<std::string> fields = split(line, ':');
        if (fields.size() != 3 || (fields[0] != "root" && fields[0] != "0")) continue;
        from = std::stoull("0" + fields[1]);
        count = std::stoull("0" + fields[2]);
        break;
    }
    std::vector<std::uint32_t> bases;
    constexpr std::size_t most = 4096;
    for (std::uint64_t base = from + ids_of_container;
         base + ids_of_container <= from + count && bases.size() < most; base += ids_of_container)
        bases.push_back(static_cast<std::uint32_t>(base));
    return bases;
}

}  // namespace svc::lxd
