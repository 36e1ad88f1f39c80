#include "server/metrics/cluster_metrics.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "server/metrics/reserved.h"

namespace svc::server {

namespace {

const std::vector<double> boot_bounds{1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900};

constexpr std::array all_statuses{InstanceStatus::error,    InstanceStatus::unknown, InstanceStatus::created,
                                  InstanceStatus::prepared, InstanceStatus::started, InstanceStatus::running,
                                  InstanceStatus::stopped,  InstanceStatus::deleted};

// The resources that instances have reserved on a node.
struct Used {
    double cpus = 0;
    std::uint64_t memory = 0;
};

using InstanceList = std::vector<std::shared_ptr<const Instance>>;
using ApplicationList = std::vector<std::shared_ptr<const Application>>;
using NodeList = std::vector<std::shared_ptr<const Node>>;

std::string label(std::string_view name, std::string_view value) {
    return render_labels({{std::string(name), std::string(value)}});
}

// These metrics are gauges although the names, which are those of the specification, end in `_total`.
MetricFamily gauge(std::string& out, std::string_view name, std::string_view help) {
    return {out, name, help, "gauge"};
}

constexpr std::array node_statuses{NodeStatus::error,        NodeStatus::unknown,     NodeStatus::created,
                                   NodeStatus::initializing, NodeStatus::initialized, NodeStatus::online,
                                   NodeStatus::offline,      NodeStatus::deleted,     NodeStatus::evacuated};

void write_statuses(std::string& out, const NodeList& nodes) {
    MetricFamily family(out, "svc_cluster_node_status", "1 for the status that the node has", "gauge");
    for (const auto& node : nodes)
        for (const NodeStatus status : node_statuses)
            family.add(render_labels({{"node", node->name}, {"status", std::string(to_text(status))}}),
                       std::uint64_t{node->status == status});
}

void write_counts(std::string& out, const NodeList& nodes, const InstanceList& instances) {
    gauge(out, "svc_cluster_nodes_total", "nodes").add("", nodes.size());
    gauge(out, "svc_cluster_containers_total", "instances").add("", instances.size());
    std::map<InstanceStatus, std::uint64_t> by_status;
    for (const auto& instance : instances) ++by_status[instance->status];
    auto per_status = gauge(out, "svc_cluster_containers_per_status_total", "instances of each status");
    for (const InstanceStatus status : all_statuses)
        per_status.add(label("status", to_text(status)), by_status[status]);
    const auto paused = std::ranges::count_if(instances, [](const auto& each) { return is_paused(*each); });
    gauge(out, "svc_cluster_paused_containers", "running instances that are paused")
        .add("", static_cast<std::uint64_t>(paused));
}

// Each application has a series, also without instances. Instances of a removed application are not counted.
void write_applications(std::string& out, const ApplicationList& applications,
                        const InstanceList& instances) {
    gauge(out, "svc_cluster_applications_total", "applications").add("", applications.size());
    std::unordered_map<std::string_view, std::uint64_t> by_application;
    for (const auto& instance : instances) ++by_application[*instance->app_id];
    auto family = gauge(out, "svc_cluster_containers_per_application_total", "instances of each application");
    for (const auto& application : applications) {
        const auto found = by_application.find(application->id.str());
        family.add(label("application", application->name),
                   found == by_application.end() ? std::uint64_t{0} : found->second);
    }
}

// Of each application that has a pool. A miss made an instance of its own.
void write_pools(std::string& out, const ApplicationList& applications, const InstanceList& instances,
                 const std::map<std::string, PoolCounts>& counts) {
    std::unordered_map<std::string_view, std::uint64_t> ready;
    for (const auto& instance : instances)
        if (instance->pooled && instance->status == InstanceStatus::running) ++ready[*instance->app_id];
    const auto write = [&](std::string_view name, std::string_view help, const char* type, auto number) {
        MetricFamily family(out, name, help, type);
        for (const auto& application : applications)
            if (!application->pool.empty())
                family.add(label("application", application->name), number(application->id.str()));
    };
    const auto count = [&](const std::string& id) {
        const auto found = counts.find(id);
        return found == counts.end() ? PoolCounts() : found->second;
    };
    write("svc_cluster_pool_ready_containers", "instances that wait, booted, for a launch", "gauge",
          [&](const std::string& id) { return ready[id]; });
    write("svc_cluster_pool_claims_total", "launches that took an instance of the pool", "counter",
          [&](const std::string& id) { return count(id).claims; });
    write("svc_cluster_pool_misses_total", "launches that the pool could not meet", "counter",
          [&](const std::string& id) { return count(id).misses; });
}

void write_resources(std::string& out, const NodeList& nodes,
                     std::unordered_map<std::string_view, Used>& used) {
    const auto write = [&](std::string_view name, std::string_view help, auto number) {
        auto family = gauge(out, name, help);
        for (const auto& node : nodes) family.add(label("node", node->name), number(*node));
    };
    const auto scaled = [](double amount, double rate) { return static_cast<std::uint64_t>(amount * rate); };
    write("svc_cluster_available_cpu_total", "CPUs of the node times its allocation rate",
          [&](const Node& node) {
              return scaled(node.configured_cpus ? node.configured_cpus : node.cpus,
                            node.cpu_allocation_rate);
          });
    write("svc_cluster_used_cpu_total", "CPUs reserved on the node",
          [&](const Node& node) { return used[node.name].cpus; });
    write("svc_cluster_available_memory_total", "bytes of the node times its allocation rate",
          [&](const Node& node) {
              return scaled(
                  static_cast<double>(node.configured_memory ? node.configured_memory : node.memory),
                  node.memory_allocation_rate);
          });
    write("svc_cluster_used_memory_total", "bytes reserved on the node",
          [&](const Node& node) { return used[node.name].memory; });
}

}  // namespace

ClusterMetrics::ClusterMetrics(MetricsRegistry& registry, const NodeService& nodes,
                               const InstanceService& instances, const ApplicationService& applications,
                               EventBus& events, HistorySampler& history)
    : nodes_(nodes),
      instances_(instances),
      applications_(applications),
      history_(history),
      boot_time_(registry.histogram("svc_cluster_container_boot_time_seconds",
                                    "from the start request to running", boot_bounds)) {
    registry.add_collector([this](std::string& out) { collect(out); });
    subscription_ = events.subscribe({EventType::lifecycle}, [this](const Event& event) {
        observe_boot(*event.text);
        return true;
    });
}

void ClusterMetrics::collect(std::string& out) const {
    const NodeList nodes = nodes_.list();
    const InstanceList instances = instances_.records().list();
    std::unordered_map<std::string_view, Used> used;
    for (const auto& instance : instances) {
        if (!holds_resources(*instance)) continue;
        used[*instance->node].cpus += instance->resources.cpus;
        used[*instance->node].memory += instance->resources.memory;
    }
    write_counts(out, nodes, instances);
    write_applications(out, applications_.list(), instances);
    write_pools(out, applications_.list(), instances, instances_.pool_pace().counts());
    write_resources(out, nodes, used);
    write_statuses(out, nodes);
}

void ClusterMetrics::observe_boot(const std::string& event) const {
    if (event.find("\"container-running\"") == std::string::npos) return;
    const Json document = Json::parse(event);
    const std::string& source = document.at("metadata").at("source").as_string();
    try {
        const auto instance = instances_.records().get(source.substr(source.rfind('/') + 1));
        const auto took = instances_.since_start(*instance);
        if (instance->type != InstanceType::regular || !took) return;
        const double seconds = std::chrono::duration<double>(*took).count();
        boot_time_.observe(seconds);
        history_.started(instance->node, seconds);
    } catch (const Error&) {
        return;  // removed meanwhile: it has no boot time any more
    }
}

}  // namespace svc::server
