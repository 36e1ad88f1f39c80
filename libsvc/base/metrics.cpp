#include "libsvc/base/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <variant>

#include "libsvc/base/error.h"

namespace svc {

namespace {

void append_number(std::string& out, double value) {
    std::array<char, 32> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.append(buffer.data(), result.ptr);
}

// Backslash and line feed everywhere, quotes within label values alone.
void append_escaped(std::string& out, std::string_view text, bool in_label) {
    for (char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || (in_label && c == '"')) out += '\\';
        out += c;
    }
}

// `a="x",b="y"`, without braces so that a histogram can add its bound.
std::string render_labels(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) {
        if (!text.empty()) text += ',';
        text.append(name).append("=\"");
        append_escaped(text, value, true);
        text += '"';
    }
    return text;
}

void append_name(std::string& out, std::string_view name, std::string_view suffix, std::string_view labels) {
    out.append(name).append(suffix);
    if (!labels.empty()) out.append("{").append(labels).append("}");
    out += ' ';
}

}  // namespace

struct MetricsRegistry::Series {
    std::variant<std::monostate, Counter, Gauge, Histogram> value;
};

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::observe(double value) noexcept {
    const auto bound = std::lower_bound(bounds_.begin(), bounds_.end(), value);
    counts_[static_cast<std::size_t>(bound - bounds_.begin())].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
}

MetricsRegistry::Family& MetricsRegistry::family(std::string_view name, std::string_view help,
                                                 std::string_view type) {
    const auto found = families_.find(name);
    if (found == families_.end())
        return families_.emplace(name, Family{std::string(help), std::string(type), {}}).first->second;
    if (found->second.type != type)
        throw Error(ErrorCode::internal, "metric " + std::string(name) + " is registered with two types");
    return found->second;
}

Counter& MetricsRegistry::counter(std::string_view name, std::string_view help, const Labels& labels) {
    std::lock_guard lock(mutex_);
    auto& series = family(name, help, "counter").series[render_labels(labels)];
    if (!series) {
        series = std::make_shared<Series>();
        series->value.emplace<Counter>();
    }
    return std::get<Counter>(series->value);
}

Gauge& MetricsRegistry::gauge(std::string_view name, std::string_view help, const Labels& labels,
                              std::string_view type) {
    std::lock_guard lock(mutex_);
    auto& series = family(name, help, type).series[render_labels(labels)];
    if (!series) {
        series = std::make_shared<Series>();
        series->value.emplace<Gauge>();
    }
    return std::get<Gauge>(series->value);
}

Histogram& MetricsRegistry::histogram(std::string_view name, std::string_view help,
                                      const std::vector<double>& bounds, const Labels& labels) {
    std::lock_guard lock(mutex_);
    auto& series = family(name, help, "histogram").series[render_labels(labels)];
    if (!series) {
        series = std::make_shared<Series>();
        series->value.emplace<Histogram>(bounds);
    }
    return std::get<Histogram>(series->value);
}

void MetricsRegistry::add_collector(std::function<void(std::string& out)> collector) {
    std::lock_guard lock(mutex_);
    collectors_.push_back(std::move(collector));
}

void MetricsRegistry::append_histogram(std::string& out, std::string_view name, const std::string& labels,
                                       const Histogram& histogram) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i <= histogram.bounds_.size(); ++i) {
        count += histogram.counts_[i].load(std::memory_order_relaxed);
        std::string bucket = labels.empty() ? "le=\"" : labels + ",le=\"";
        if (i < histogram.bounds_.size())
            append_number(bucket, histogram.bounds_[i]);
        else
            bucket += "+Inf";
        append_name(out, name, "_bucket", bucket += '"');
        out.append(std::to_string(count)).append("\n");
    }
    append_name(out, name, "_sum", labels);
    append_number(out, histogram.sum_.load(std::memory_order_relaxed));
    append_name(out += '\n', name, "_count", labels);
    out.append(std::to_string(count)).append("\n");
}

void MetricsRegistry::append_series(std::string& out, std::string_view name, const std::string& labels,
                                    const Series& series) {
    if (const auto* histogram = std::get_if<Histogram>(&series.value)) {
        append_histogram(out, name, labels, *histogram);
        return;
    }
    append_name(out, name, "", labels);
    if (const auto* counter = std::get_if<Counter>(&series.value)) out += std::to_string(counter->value());
    if (const auto* gauge = std::get_if<Gauge>(&series.value)) out += std::to_string(gauge->value());
    out += '\n';
}

std::string MetricsRegistry::render() const {
    std::string out;
    std::vector<std::function<void(std::string&)>> collectors;
    {
        std::lock_guard lock(mutex_);
        collectors = collectors_;
        for (const auto& [name, family] : families_) {
            append_escaped(out.append("# HELP ").append(name).append(" "), family.help, false);
            out.append("\n# TYPE ").append(name).append(" ").append(family.type).append("\n");
            for (const auto& [labels, series] : family.series) append_series(out, name, labels, *series);
        }
    }
    for (const auto& collector : collectors) collector(out);  // unlocked: they may take locks of their own
    return out;
}

}  // namespace svc
