#include "server/gateway/service_metrics.h"

#include <array>

namespace svc::gateway {

namespace {

constexpr std::array all_statuses{SessionStatus::created, SessionStatus::active, SessionStatus::error,
                                  SessionStatus::terminating, SessionStatus::terminated};

std::string status_label(std::string_view status) {
    return render_labels({{"status", std::string(status)}});
}

// The specification's names end in `_total`, although these are gauges.
MetricFamily gauge(std::string& out, std::string_view name, std::string_view help) {
    return {out, name, help, "gauge"};
}

void write_sessions(std::string& out, std::map<SessionStatus, std::size_t> counts) {
    auto family = gauge(out, "stream_gateway_sessions_total", "sessions of each status");
    for (const SessionStatus status : all_statuses)
        family.add(status_label(to_text(status)), std::uint64_t{counts[status]});
}

void write_media(std::string& out, const MediaCounts& media) {
    gauge(out, "stream_gateway_media_links", "clients whose media goes through the gateway")
        .add("", static_cast<std::uint64_t>(media.open));
    MetricFamily(out, "stream_gateway_media_bytes_total", "bytes of such media, both ways", "counter")
        .add("", media.bytes);
}

void write_agents(std::string& out, const RegionCounts& counts) {
    auto family = gauge(out, "stream_gateway_agents_total", "regions that answer, and those that do not");
    family.add(status_label("active"), static_cast<std::uint64_t>(counts.active));
    family.add(status_label("unresponsive"), static_cast<std::uint64_t>(counts.unresponsive));
}

}  // namespace

void add_service_metrics(MetricsRegistry& registry, const SessionService& sessions,
                         const AccountService& accounts, std::function<RegionCounts()> regions) {
    registry.add_collector([&, regions = std::move(regions)](std::string& out) {
        write_sessions(out, sessions.counts());
        gauge(out, "stream_gateway_accounts_total", "accounts").add("", std::uint64_t{accounts.size()});
        write_agents(out, regions());
        write_media(out, sessions.media());
    });
}

}  // namespace svc::gateway
