#include "server/metrics/metrics_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace svc::server {

namespace {

using SampleList = std::vector<std::shared_ptr<const HistorySample>>;

// Three digits behind the point are enough for a graph, and make a short text.
Json history_number(double value) {
    return std::round(value * 1000) / 1000;
}

Json history_number(std::optional<double> value) {
    return value ? history_number(*value) : Json();
}

template <class Value>
Json column(const SampleList& samples, Value value) {
    JsonArray all;
    all.reserve(samples.size());
    for (const auto& sample : samples) all.push_back(value(*sample));
    return all;
}

Json column_of(const SampleList& samples, std::uint32_t HistorySample::*member) {
    return column(samples, [member](const HistorySample& s) { return Json(s.*member); });
}

Json statuses_columns(const SampleList& samples) {
    Json all = Json::object();
    for (std::size_t i = 0; i < HistorySample::statuses.size(); ++i)
        all.set(HistorySample::statuses[i],
                column(samples, [i](const HistorySample& s) { return Json(s.instances[i]); }));
    return all;
}

Json amount_columns(const SampleList& samples, HistoryAmount HistorySample::*member) {
    return Json::object(
        {{"total",
          column(samples, [&](const HistorySample& s) { return history_number((s.*member).total); })},
         {"used",
          column(samples, [&](const HistorySample& s) { return history_number((s.*member).used); })}});
}

Json launch_columns(const SampleList& samples) {
    using S = HistorySample;
    return Json::object(
        {{"begun", column_of(samples, &S::launches_begun)},
         {"succeeded", column_of(samples, &S::launches_succeeded)},
         {"failed", column_of(samples, &S::launches_failed)},
         {"p50", column(samples, [](const S& s) { return history_number(s.launch_durations.p50); })},
         {"p95", column(samples, [](const S& s) { return history_number(s.launch_durations.p95); })}});
}

Json columns_of(const SampleList& samples) {
    using S = HistorySample;
    return Json::object(
        {{"times", column(samples, [](const S& s) { return Json(s.time); })},
         {"instances", statuses_columns(samples)},
         {"capacity", Json::object({{"cpus", amount_columns(samples, &S::cpus)},
                                    {"memory", amount_columns(samples, &S::memory)},
                                    {"gpu_slots", amount_columns(samples, &S::gpu_slots)}})},
         {"nodes", Json::object({{"all", column_of(samples, &S::nodes)},
                                 {"online", column_of(samples, &S::nodes_online)}})},
         {"launches", launch_columns(samples)},
         {"requests", Json::object({{"served", column_of(samples, &S::requests)},
                                    {"refused", column_of(samples, &S::requests_refused)},
                                    {"failed", column_of(samples, &S::requests_failed)}})},
         {"operations", Json::object({{"running", column_of(samples, &S::operations_running)},
                                      {"queued", column_of(samples, &S::operations_queued)}})}});
}

std::optional<double> mean_launch(const NodeSample& node) {
    if (node.launches == 0) return {};
    return node.launch_seconds / node.launches;
}

// The newest figures of each node, with the launches of all samples.
std::vector<NodeSample> sums_of_nodes(const SampleList& samples) {
    if (samples.empty()) return {};
    std::map<std::string_view, NodeSample> sums;
    for (const NodeSample& node : samples.back()->of_nodes) {
        NodeSample& sum = sums[*node.name] = node;
        sum.launches = 0;
        sum.launch_seconds = 0;
    }
    for (const auto& sample : samples)
        for (const NodeSample& node : sample->of_nodes) {
            const auto found = sums.find(*node.name);
            if (found == sums.end()) continue;  // it is gone
            found->second.launches += node.launches;
            found->second.launch_seconds += node.launch_seconds;
        }
    std::vector<NodeSample> all;
    for (const auto& [name, sum] : sums) all.push_back(sum);
    return all;
}

Json node_summary(const NodeSample& node) {
    return Json::object({{"name", *node.name},
                         {"instances", node.instances},
                         {"cpus", history_number(node.cpus)},
                         {"memory", node.memory},
                         {"disk", node.disk},
                         {"gpu_slots", node.gpu_slots},
                         {"launches", node.launches},
                         {"launch_duration", history_number(mean_launch(node))}});
}

Json slowest_nodes(const SampleList& samples, std::size_t most) {
    std::vector<NodeSample> nodes = sums_of_nodes(samples);
    std::ranges::stable_sort(nodes, [](const NodeSample& a, const NodeSample& b) {
        return mean_launch(a).value_or(-1) > mean_launch(b).value_or(-1);
    });
    JsonArray all;
    for (const NodeSample& node : nodes) {
        if (all.size() == most) break;
        all.push_back(node_summary(node));
    }
    return all;
}

// Null in a column: the node was not there.
template <class Value>
Json node_column(const SampleList& samples, const std::string& name, Value value) {
    return column(samples, [&](const HistorySample& sample) {
        const auto& nodes = sample.of_nodes;
        const auto found = std::ranges::lower_bound(
            nodes, name, {}, [](const NodeSample& node) -> const std::string& { return *node.name; });
        return found == nodes.end() || *found->name != name ? Json() : Json(value(*found));
    });
}

Json node_columns(const SampleList& samples, const std::string& name) {
    using N = NodeSample;
    const auto of = [&](auto value) { return node_column(samples, name, value); };
    return Json::object({{"name", name},
                         {"instances", of([](const N& n) { return Json(n.instances); })},
                         {"cpus", of([](const N& n) { return history_number(n.cpus); })},
                         {"memory", of([](const N& n) { return Json(n.memory); })},
                         {"disk", of([](const N& n) { return Json(n.disk); })},
                         {"gpu_slots", of([](const N& n) { return Json(n.gpu_slots); })},
                         {"launches", of([](const N& n) { return Json(n.launches); })},
                         {"launch_duration", of([](const N& n) { return history_number(mean_launch(n)); })}});
}

}  // namespace

bool MetricsHistory::empty() const {
    return samples_.with([](const Samples& samples) { return samples.empty(); });
}

void MetricsHistory::add(HistorySample sample) {
    auto added = std::make_shared<const HistorySample>(std::move(sample));
    samples_.with([&](Samples& samples) {
        samples.push_back(std::move(added));
        if (samples.size() > kept) samples.pop_front();
    });
}

Json MetricsHistory::read(const HistoryQuery& query) const {
    const auto all = samples_.with([](const Samples& s) { return SampleList(s.begin(), s.end()); });
    SampleList wanted = all;
    std::erase_if(wanted, [&](const auto& sample) { return sample->time <= query.since; });
    Json answer = columns_of(wanted);
    answer.set("interval", interval.count());
    answer.set("kept", std::chrono::seconds(interval * kept).count());
    answer.set("slowest_nodes", slowest_nodes(all, query.nodes));
    if (!query.node.empty()) answer.set("node", node_columns(wanted, query.node));
    return answer;
}

}  // namespace svc::server
