#include "server/metrics-agent/collector.h"

#include "libsvc/base/error.h"

namespace svc::metrics_agent {

namespace {

Counter& lines(MetricsRegistry& registry, const std::string& transport) {
    return registry.counter("svc_metrics_lines_total", "lines received", {{"transport", transport}});
}

Counter& refused(MetricsRegistry& registry, const std::string& reason) {
    return registry.counter("svc_metrics_refused_lines_total", "lines not taken", {{"reason", reason}});
}

}  // namespace

Collector::Collector(const Clock& clock, SampleLimits limits)
    : table_(clock, limits),
      udp_lines_(lines(registry_, "udp")),
      http_lines_(lines(registry_, "http")),
      faulty_(refused(registry_, "faulty")),
      unknown_(refused(registry_, "unknown")),
      too_many_(refused(registry_, "too_many_streams")),
      streams_(registry_.gauge("svc_metrics_streams", "streams with a sample that is not over")) {
    registry_.add_collector([this](std::string& out) { table_.render(out); });
}

std::string Collector::take_line(std::string_view line, std::string_view source) {
    LineSample sample;
    try {
        sample = parse_line(line);
    } catch (const Error& e) {
        faulty_.add();
        return e.what();
    }
    switch (table_.add(sample, source)) {
        case Verdict::taken:
            break;
        case Verdict::unknown:
            unknown_.add();
            return "the line has no metric that is known";
        case Verdict::too_many:
            too_many_.add();
            return "there are too many streams";
    }
    return "";
}

std::string Collector::take(std::string_view batch, std::string_view source, Transport transport) {
    std::string first;
    for_each_line(batch, [&](std::string_view line) {
        (transport == Transport::udp ? udp_lines_ : http_lines_).add();
        std::string problem = take_line(line, source);
        if (first.empty()) first = std::move(problem);
    });
    return first;
}

std::string Collector::render() {
    streams_.set(static_cast<std::int64_t>(table_.streams()));
    return registry_.render();
}

}  // namespace svc::metrics_agent
