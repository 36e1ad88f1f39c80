#include "server/metrics/history_sampler.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "server/metrics/reserved.h"

namespace svc::server {

namespace {

// The value below which that part of the values is.
double quantile(std::vector<float>& values, double part) {
    const auto rank = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5);
    const auto found = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(values.begin(), found, values.end());
    return *found;
}

HistoryDurations durations_of(std::vector<float> values) {
    if (values.empty()) return {};
    return {quantile(values, .5), quantile(values, .95)};
}

// An index of HistorySample::statuses; nothing for what is not shown.
std::optional<std::size_t> status_column(const Instance& instance) {
    const std::string_view status = is_paused(instance) ? "paused" : to_text(instance.status);
    const auto found = std::ranges::find(HistorySample::statuses, status);
    if (found == HistorySample::statuses.end()) return {};
    return static_cast<std::size_t>(found - HistorySample::statuses.begin());
}

// What a stopped or failed instance keeps is its disk.
void add_instance(NodeSample& node, const Instance& instance) {
    ++node.instances;
    node.disk += instance.resources.disk;
    if (!holds_resources(instance)) return;
    node.cpus += static_cast<float>(instance.resources.cpus);
    node.memory += instance.resources.memory;
    node.gpu_slots += static_cast<std::uint32_t>(instance.resources.gpu_slots);
}

void add_capacity(HistorySample& sample, const Node& node, const NodeSample& used) {
    const double memory = static_cast<double>(node.configured_memory ? node.configured_memory : node.memory);
    sample.cpus.total += (node.configured_cpus ? node.configured_cpus : node.cpus) * node.cpu_allocation_rate;
    sample.cpus.used += used.cpus;
    sample.memory.total += memory * node.memory_allocation_rate;
    sample.memory.used += static_cast<double>(used.memory);
    sample.gpu_slots.total += node.gpu_slots;
    sample.gpu_slots.used += used.gpu_slots;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::uint32_t grown(std::uint64_t now, std::uint64_t before) {
    return static_cast<std::uint32_t>(now - before);
}

}  // namespace

HistorySampler::HistorySampler(HistorySamplerParts parts)
    : parts_(parts), last_requests_(parts.requests.totals()) {
    subscription_ = parts_.events.subscribe({EventType::operation}, [this](const Event& event) {
        count(*event.text);
        return true;
    });
}

// A text within the record cannot look like a member: its quotes are escaped.
void HistorySampler::count(const std::string& event) {
    if (!has(event, "\"description\":\"Creating container\"")) return;
    launches_.with([&](Launches& launches) {
        if (has(event, "\"status\":\"Pending\"")) ++launches.begun;
        if (has(event, "\"status\":\"Success\"")) ++launches.succeeded;
        if (has(event, "\"status\":\"Failure\"")) ++launches.failed;
    });
}

void HistorySampler::started(const Interned<std::string>& node, double seconds) {
    launches_.with([&](Launches& launches) {
        if (launches.durations.size() < most_durations)
            launches.durations.push_back(static_cast<float>(seconds));
        Starts& starts = launches.by_node[*node];
        ++starts.count;
        starts.seconds += seconds;
    });
}

HistorySample HistorySampler::take() {
    HistorySample sample;
    sample.time = to_unix_seconds(parts_.clock.now());
    add_records(sample);
    add_launches(sample);
    add_requests(sample);
    const EngineLoad load = parts_.engine.load();
    sample.operations_running = static_cast<std::uint32_t>(load.running);
    sample.operations_queued = static_cast<std::uint32_t>(load.queued);
    return sample;
}

void HistorySampler::add_records(HistorySample& sample) const {
    std::unordered_map<std::string_view, NodeSample> used;
    const auto instances = parts_.instances.records().list();
    for (const auto& instance : instances) {
        if (const auto column = status_column(*instance)) ++sample.instances[*column];
        if (!instance->node.empty()) add_instance(used[*instance->node], *instance);
    }
    for (const auto& node : parts_.nodes.list()) {
        NodeSample of_node = used[node->name];
        of_node.name = node->name;
        ++sample.nodes;
        if (node->status == NodeStatus::online) {
            ++sample.nodes_online;
            add_capacity(sample, *node, of_node);
        }
        sample.of_nodes.push_back(std::move(of_node));
    }
    std::ranges::sort(sample.of_nodes, {},
                      [](const NodeSample& node) -> const std::string& { return *node.name; });
    if (sample.of_nodes.size() > MetricsHistory::most_nodes)
        sample.of_nodes.resize(MetricsHistory::most_nodes);
}

void HistorySampler::add_launches(HistorySample& sample) {
    Launches ended = launches_.with([](Launches& launches) { return std::exchange(launches, {}); });
    sample.launches_begun = ended.begun;
    sample.launches_succeeded = ended.succeeded;
    sample.launches_failed = ended.failed;
    sample.launch_durations = durations_of(std::move(ended.durations));
    for (NodeSample& node : sample.of_nodes) {
        const auto found = ended.by_node.find(*node.name);
        if (found == ended.by_node.end()) continue;
        node.launches = found->second.count;
        node.launch_seconds = static_cast<float>(found->second.seconds);
    }
}

void HistorySampler::add_requests(HistorySample& sample) {
    const RequestTotals now = parts_.requests.totals();
    sample.requests = grown(now.served, last_requests_.served);
    sample.requests_refused = grown(now.refused, last_requests_.refused);
    sample.requests_failed = grown(now.failed, last_requests_.failed);
    last_requests_ = now;
}

}  // namespace svc::server
