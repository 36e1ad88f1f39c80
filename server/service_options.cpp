#include "server/service_options.h"

#include <algorithm>

namespace svc::server {

namespace {

// Path of the agents' socket inside an instance: the runtime binds the socket's folder there.
constexpr std::string_view agent_socket_inside = "/var/lib/svc-agent/host/server.unix";

EngineOptions engine_options(const Options& options) {
    EngineOptions engine;
    engine.workers = options.operation_workers;
    engine.max_queued = options.operation_queue;
    engine.keep_finished = options.keep_operations;
    engine.keep_for = options.keep_operations_for;
    return engine;
}

// Leaves workers to other work.
std::size_t bulk_deletions_at_once(const Options& options) {
    return std::max<std::size_t>(options.operation_workers * 2 / 3, 1);
}

NodeServiceOptions node_options(const Options& options) {
    return {options.node_name, options.first_port, options.last_port, options.cpu_allocation_rate,
            options.memory_allocation_rate};
}

InstanceServiceOptions instance_options(const Options& options, const StateDirectory& state) {
    InstanceServiceOptions instances;
    instances.boot_timeout = options.boot_timeout;
    instances.stop_grace = options.stop_grace;
    instances.linger = options.linger;
    instances.log_dir = state.logs();
    instances.max_log_bytes = options.max_log;
    return instances;
}

AgentSession session_template(const Options& options) {
    AgentSession session;
    session.service_socket = agent_socket_inside;
    session.name_servers = options.lxc.name_servers;
    session.boot_timeout_seconds =
        static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(options.boot_timeout).count());
    return session;
}

}  // namespace

ManagementOptions management_options(const Options& options, const StateDirectory& state) {
    ManagementOptions management;
    management.token_secret = state.token_secret();
    management.registry_keys = state.registry();
    management.engine = engine_options(options);
    management.nodes = node_options(options);
    management.instances = instance_options(options, state);
    management.session_template = session_template(options);
    management.bootstraps_at_once = options.bootstraps;
    management.bulk_deletions_at_once = bulk_deletions_at_once(options);
    return management;
}

}  // namespace svc::server
