#include "libsvc/base/metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <variant>

#include "libsvc/base/error.h"

namespace svc {

namespace {

template <class Number>
void append_digits(std::string& out, Number value) {
    std::array<char, 32> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.append(buffer.data(), result.ptr);
}

// Bounds as other exporters write them, since their text is the value of a label: 100000, 1e+06.
constexpr double first_with_exponent = 1e6;

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

}  // namespace

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

namespace {

void append_head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
    append_escaped(out.append("# HELP ").append(name).append(" "), help, false);
    out.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void append_name(std::string& out, std::string_view name, std::string_view suffix, std::string_view labels) {
    out.append(name).append(suffix);
    if (!labels.empty()) out.append("{").append(labels).append("}");
    out += ' ';
}

}  // namespace

void append_number(std::string& out, double value) {
    if (value == std::trunc(value) && std::abs(value) < first_with_exponent)
        append_digits(out, static_cast<std::int64_t>(value));
    else
        append_digits(out, value);
}

MetricFamily::MetricFamily(std::string& out, std::string_view name, std::string_view help,
                           std::string_view type)
    : out_(out), name_(name) {
    append_head(out_, name_, help, type);
}

void MetricFamily::add(std::string_view labels, double value) {
    append_name(out_, name_, "", labels);
    append_number(out_, value);
    out_ += '\n';
}

void MetricFamily::add(std::string_view labels, std::uint64_t value) {
    append_name(out_, name_, "", labels);
    append_digits(out_, value);
    out_ += '\n';
}

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

void MetricsRegistry::append_histogram(std::string& out, std::string_view name, std::string_view labels,
                                       const Histogram& histogram) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i <= histogram.bounds_.size(); ++i) {
        count += histogram.counts_[i].load(std::memory_order_relaxed);
        out.append(name).append("_bucket{").append(labels).append(labels.empty() ? "le=\"" : ",le=\"");
        if (i < histogram.bounds_.size())
            append_number(out, histogram.bounds_[i]);
        else
            out += "+Inf";
        append_digits(out += "\"} ", count);
        out += '\n';
    }
    append_name(out, name, "_sum", labels);
    append_number(out, histogram.sum_.load(std::memory_order_relaxed));
    append_name(out += '\n', name, "_count", labels);
    append_digits(out, count);
    out += '\n';
}

void MetricsRegistry::append_series(std::string& out, std::string_view name, std::string_view labels,
                                    const Series& series) {
    if (const auto* histogram = std::get_if<Histogram>(&series.value)) {
        append_histogram(out, name, labels, *histogram);
        return;
    }
    append_name(out, name, "", labels);
    if (const auto* counter = std::get_if<Counter>(&series.value)) append_digits(out, counter->value());
    if (const auto* gauge = std::get_if<Gauge>(&series.value)) append_digits(out, gauge->value());
    out += '\n';
}

// Families and series are never removed and do not move: their addresses stay valid without the lock.
std::vector<MetricsRegistry::Line> MetricsRegistry::lines() const {
    std::lock_guard lock(mutex_);
    std::vector<Line> lines;
    for (const auto& [name, family] : families_)
        for (const auto& [labels, series] : family.series)
            lines.push_back({&name, &family, labels, series.get()});
    return lines;
}

std::string MetricsRegistry::render() const {
    const std::vector<Line> all = lines();
    std::string out;
    out.reserve(last_size_.load(std::memory_order_relaxed));
    const Family* family = nullptr;
    for (const Line& line : all) {
        if (line.family != family) append_head(out, *line.name, line.family->help, line.family->type);
        family = line.family;
        append_series(out, *line.name, line.labels, *line.series);
    }
    std::vector<std::function<void(std::string&)>> collectors;
    {
        std::lock_guard lock(mutex_);
        collectors = collectors_;
    }
    for (const auto& collector : collectors) collector(out);
    last_size_.store(out.size() + out.size() / 8, std::memory_order_relaxed);
    return out;
}

}  // namespace svc
