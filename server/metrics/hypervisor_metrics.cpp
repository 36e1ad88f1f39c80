#include "server/metrics/hypervisor_metrics.h"

#include <array>
#include <unordered_map>

#include "libsvc/base/metrics.h"

namespace svc::server {

namespace {

constexpr std::size_t row_bytes = 2500;  // of text, about

// A running instance: its labels, rendered once for all its series, and what it uses.
struct Row {
    std::string labels;
    std::vector<std::string> device_labels;  // with that of each device of the network
    ContainerUsage usage;
};
using Rows = std::vector<Row>;

using Names = std::unordered_map<std::string, std::string>;  // of applications, by id

std::string labels_of(const Instance& instance, const Names& applications) {
    const auto application = applications.find(instance.app_id);
    return render_labels({{"id", instance.id.str()},
                          {"application", application == applications.end() ? "" : application->second},
                          {"type", std::string(to_text(instance.type))},
                          {"node", instance.node}});
}

template <class Number>
void write(std::string& out, const Rows& rows, std::string_view name, std::string_view help,
           std::string_view type, std::optional<Number> ContainerUsage::*value) {
    MetricFamily family(out, name, help, type);
    for (const Row& row : rows)
        if (const auto& number = row.usage.*value) family.add(row.labels, *number);
}

void write_cpu(std::string& out, const Rows& rows) {
    MetricFamily family(out, "svc_instance_cpu_seconds_total", "CPU time used", "counter");
    for (const Row& row : rows) {
        if (const auto user = row.usage.cpu_user_seconds) family.add(row.labels + ",mode=\"user\"", *user);
        if (const auto system = row.usage.cpu_system_seconds)
            family.add(row.labels + ",mode=\"system\"", *system);
    }
}

void write_memory(std::string& out, const Rows& rows) {
    using U = ContainerUsage;
    write(out, rows, "svc_instance_memory_usage_bytes", "memory in use, caches included", "gauge",
          &U::memory_bytes);
    write(out, rows, "svc_instance_memory_limit_bytes", "memory it may use", "gauge", &U::memory_limit_bytes);
    write(out, rows, "svc_instance_memory_peak_bytes", "most memory in use since its start", "gauge",
          &U::memory_peak_bytes);
    write(out, rows, "svc_instance_memory_oom_kills_total", "processes killed for lack of memory", "counter",
          &U::oom_kills);
}

void write_disk_and_processes(std::string& out, const Rows& rows) {
    using U = ContainerUsage;
    write(out, rows, "svc_instance_filesystem_usage_bytes", "disk that its own files take", "gauge",
          &U::disk_bytes);
    write(out, rows, "svc_instance_filesystem_size_bytes", "disk it may take", "gauge", &U::disk_limit_bytes);
    write(out, rows, "svc_instance_processes", "processes and threads", "gauge", &U::processes);
    write(out, rows, "svc_instance_processes_limit", "processes and threads it may have", "gauge",
          &U::process_limit);
}

struct Direction {
    std::string_view word;
    TrafficCount NetworkUsage::*traffic;
};
struct Column {
    std::string_view name, help;
    std::uint64_t TrafficCount::*count;
};
constexpr std::array directions{Direction{"receive", &NetworkUsage::received},
                                Direction{"transmit", &NetworkUsage::sent}};
constexpr std::array columns{Column{"bytes", "bytes", &TrafficCount::bytes},
                             Column{"packets", "packets", &TrafficCount::packets},
                             Column{"errors", "packets with errors", &TrafficCount::errors},
                             Column{"dropped", "packets dropped", &TrafficCount::dropped}};

void write_traffic(std::string& out, const Rows& rows, const Direction& direction, const Column& column) {
    std::string name = "svc_instance_network_";
    name.append(direction.word).append("_").append(column.name).append("_total");
    const std::string help = std::string(column.help) + ", " + std::string(direction.word);
    MetricFamily family(out, name, help, "counter");
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.usage.network.size(); ++i)
            family.add(row.device_labels[i], row.usage.network[i].*direction.traffic.*column.count);
}

Row make_row(std::string labels, ContainerUsage usage) {
    Row row{std::move(labels), {}, std::move(usage)};
    for (const NetworkUsage& device : row.usage.network)
        row.device_labels.push_back(row.labels + "," + render_labels({{"device", device.device}}));
    return row;
}

// Leaves out containers without a record: they are about to be removed, or their record is not written yet.
Rows make_rows(std::vector<ContainerUsage> usages, const InstanceService& instances, const Names& names) {
    std::unordered_map<std::string_view, const Instance*> records;
    const auto list = instances.records().list();
    for (const auto& instance : list) records.emplace(instance->id.str(), instance.get());
    Rows rows;
    rows.reserve(usages.size());
    for (ContainerUsage& usage : usages)
        if (const auto record = records.find(usage.id); record != records.end())
            rows.push_back(make_row(labels_of(*record->second, names), std::move(usage)));
    return rows;
}

}  // namespace

std::string HypervisorMetrics::render(std::string_view instance) const {
    Names names;
    for (const auto& application : applications_.list())
        names.emplace(application->id.str(), application->name);
    std::vector<ContainerUsage> usages = runtime_.usage();
    if (!instance.empty())
        std::erase_if(usages, [&](const ContainerUsage& usage) { return usage.id != instance; });
    const Rows rows = make_rows(std::move(usages), instances_, names);
    std::string out;
    out.reserve(rows.size() * row_bytes);
    write_cpu(out, rows);
    write_memory(out, rows);
    write_disk_and_processes(out, rows);
    for (const Direction& direction : directions)
        for (const Column& column : columns) write_traffic(out, rows, direction, column);
    return out;
}

}  // namespace svc::server
