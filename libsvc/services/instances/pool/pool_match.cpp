#include "libsvc/services/instances/pool/pool_match.h"

#include <algorithm>

#include "libsvc/services/instances/launch/allowed_endpoints.h"

namespace svc {

namespace {

bool is_same_service(const ServiceEntry& a, const ServiceEntry& b) {
    return a.name == b.name && a.port == b.port && a.port_end == b.port_end && a.protocols == b.protocols &&
           a.expose == b.expose;
}

bool is_same_config(InstanceConfig a, const InstanceConfig& b) {
    a.delete_protected = b.delete_protected;
    return a == b;
}

Instance without_user_data(Instance instance) {
    instance.user_data = {};
    return instance;
}

// A record that was stored has an empty object where a new one has nothing.
bool is_same_app(const AppSetup& a, const AppSetup& b) {
    return a.to_json() == b.to_json();
}

bool is_same_source(const Instance& a, const Instance& b) {
    return a.app_id == b.app_id && a.app_version == b.app_version && a.layers == b.layers &&
           a.packages == b.packages && is_same_app(a.app, b.app) && a.features == b.features;
}

bool is_same_size(const Instance& a, const Instance& b) {
    return a.resources == b.resources && a.instance_type == b.instance_type && a.gpu_type == b.gpu_type &&
           a.node_selector == b.node_selector && a.needs_gpu_encoder == b.needs_gpu_encoder &&
           a.prefers_gpu_encoder == b.prefers_gpu_encoder;
}

}  // namespace

bool is_made_like(const Instance& pooled, const Instance& wanted) {
    return !wanted.no_start && is_same_source(pooled, wanted) && is_same_size(pooled, wanted) &&
           is_same_config(pooled.config, wanted.config) &&
           std::ranges::equal(pooled.services, wanted.services, is_same_service);
}

bool has_data_for_guest(const Instance& wanted) {
    return !wanted.own_name.empty() || !wanted.user_data.empty();
}

bool can_be_told_late(const Instance& wanted) {
    return allowed_endpoints(wanted, {}).size() == allowed_endpoints(without_user_data(wanted), {}).size();
}

void take_over(Instance& pooled, const Instance& wanted) {
    pooled.pooled = false;
    pooled.own_name = wanted.own_name;
    pooled.user_data = wanted.user_data;
    pooled.tags = wanted.tags;
    pooled.config = wanted.config;
    pooled.wanted_node = wanted.wanted_node;
    pooled.task_id = wanted.task_id;
    pooled.launch_operation = wanted.launch_operation;
    pooled.created_at = wanted.created_at;
    pooled.lifetime = wanted.lifetime;
    pooled.start_requested_at = wanted.start_requested_at;
    pooled.start_mark = wanted.start_mark;
}

}  // namespace svc
