#include "libsvc/services/instances/launch/container_spec.h"

#include <algorithm>

#include "libsvc/base/strings.h"
#include "libsvc/services/instances/launch/allowed_endpoints.h"

namespace svc {

namespace {

constexpr const char* session_file = "/var/lib/svc-agent/session.json";
constexpr const char* user_data_file = "/var/lib/svc-agent/userdata";
constexpr const char* features_file = "/var/lib/svc-agent/features";
constexpr const char* agent_program = "/var/lib/svc-agent/bin/svc-agent";
constexpr Duration end_reserve = std::chrono::seconds(30);  // for cleaning up, and reporting

PortForward forward_of(const ServiceEntry& service) {
    const auto speaks = [&](const char* protocol) {
        return std::ranges::find(service.protocols, protocol) != service.protocols.end();
    };
    PortForward forward;
    forward.port = service.port;
    forward.node_port = service.node_port;
    forward.count = service.count();
    forward.tcp = speaks("tcp");
    forward.udp = speaks("udp");
    forward.exposed = service.expose;
    return forward;
}

}  // namespace

ContainerSpec container_spec(const Instance& instance, const AgentSession& session, bool pin_cpus) {
    ContainerSpec spec;
    spec.id = instance.id.str();
    spec.node = *instance.node;
    spec.name = instance.name();
    spec.layers = instance.layers;
    spec.cpus = instance.resources.cpus;
    spec.memory_bytes = instance.resources.memory;
    spec.disk_bytes = instance.resources.disk;
    spec.address = instance.address;
    for (const ServiceEntry& service : instance.services) spec.forwards.push_back(forward_of(service));
    spec.allowed_endpoints = allowed_endpoints(instance, session);
    spec.files.push_back({session_file, session.to_json().dump(), 0600});
    if (!instance.user_data.empty()) spec.files.push_back({user_data_file, instance.user_data, 0644});
    if (!session.features.empty())
        spec.files.push_back({features_file, join(session.features, "\n") + "\n", 0644});
    spec.init = instance.init;
    spec.android = instance.android;
    spec.boot_by_agent =
        instance.android || boots_with_agent(instance.packages, instance.type == InstanceType::base);
    spec.pin_cpus = pin_cpus;
    return spec;
}

Instance instance_like(const ContainerSpec& spec, const std::string& node) {
    Instance instance;
    instance.id = InstanceId(spec.id);
    instance.node = node;
    instance.status = InstanceStatus::running;
    instance.address = spec.address;
    instance.resources.cpus = spec.cpus;
    instance.resources.memory = spec.memory_bytes;
    instance.resources.disk = spec.disk_bytes;
    for (const PortForward& forward : spec.forwards) {
        ServiceEntry service;
        service.port = forward.port;
        service.port_end = static_cast<std::uint16_t>(forward.port + forward.count - 1);
        service.node_port = forward.node_port;
        instance.services.push_back(std::move(service));
    }
    return instance;
}

std::vector<std::string> end_command(int exit_code) {
    return {agent_program, "--after", "--exit-code", std::to_string(exit_code)};
}

Duration end_limit(const Instance& instance) {
    Duration limit = end_reserve;
    for (const PackageRef& package : instance.packages)
        for (const char* hook : {"backup", "post-stop"})
            if (package.has_hook(hook)) limit += std::chrono::seconds(package.hook_timeout_seconds);
    return limit;
}

}  // namespace svc
