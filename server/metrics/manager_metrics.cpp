#include "server/metrics/manager_metrics.h"

#include <map>
#include <utility>

namespace svc::server {

namespace {

std::string manager_label(const std::string& name) {
    return render_labels({{"manager", name}});
}

std::uint64_t term_of(const Membership& membership) {
    const auto leader = membership.leader();
    return leader ? leader->term : 0;
}

// Nodes are machines of managers: of whom there is a node and no manager, the manager is missing.
std::map<std::string, bool> living(const NodeService& nodes, const Membership* membership) {
    std::map<std::string, bool> all;
    for (const auto& node : nodes.list()) all[node->name] = membership == nullptr;
    if (membership != nullptr)
        for (const Manager& manager : membership->managers()) all[manager.name] = true;
    return all;
}

void write_packages(std::string& out, const PackageCopies& copies) {
    MetricFamily(out, "svc_packages_needed", "packages that the records need", "gauge")
        .add("", copies.needed);
    MetricFamily(out, "svc_packages_single", "of them, kept by one manager alone", "gauge")
        .add("", copies.single);
    MetricFamily(out, "svc_packages_missing", "of them, kept by no manager that can be asked", "gauge")
        .add("", copies.none);
}

}  // namespace

ManagerMetrics::ManagerMetrics(ManagerMetricsParts parts)
    : parts_(std::move(parts)),
      takeovers_(parts_.registry.counter("svc_manager_takeovers_total",
                                         "changes of the leader that this manager has seen")),
      term_(parts_.membership == nullptr ? 1 : term_of(*parts_.membership)) {
    parts_.registry.add_collector([this](std::string& out) { collect(out); });
    if (parts_.membership != nullptr) following_ = parts_.membership->on_change([this] { look(); });
}

ManagerMetrics::~ManagerMetrics() = default;

// The first leader of all has taken over from nobody.
void ManagerMetrics::look() {
    const std::uint64_t term = term_of(*parts_.membership);
    std::uint64_t known = term_;
    while (known < term)
        if (term_.compare_exchange_weak(known, term)) {
            if (known != 0) takeovers_.add();
            return;
        }
}

void ManagerMetrics::collect(std::string& out) const {
    const bool leads = !parts_.leads || parts_.leads();
    MetricFamily(out, "svc_manager_leader", "1 where this manager runs the operations", "gauge")
        .add(manager_label(parts_.name), std::uint64_t{leads});
    MetricFamily(out, "svc_manager_term", "of the newest leader that this manager knows", "gauge")
        .add("", term_.load());
    MetricFamily alive(out, "svc_manager_living", "1 where the manager lives, as this one knows", "gauge");
    for (const auto& [name, lives] : living(parts_.nodes, parts_.membership))
        alive.add(manager_label(name), std::uint64_t{lives});
    write_packages(out, parts_.packages == nullptr ? PackageCopies() : parts_.packages->copies());
}

std::function<void(const std::string& node, bool answered)> node_calls(MetricsRegistry& registry) {
    return [&registry](const std::string& node, bool answered) {
        const auto count = [&](const char* outcome, bool ended_so) {
            registry
                .counter("svc_node_calls_total", "calls of other nodes by this manager as the leader",
                         {{"node", node}, {"outcome", outcome}})
                .add(ended_so ? 1 : 0);
        };
        count("answered", answered);
        count("unanswered", !answered);
    };
}

}  // namespace svc::server
