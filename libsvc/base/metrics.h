#pragma once
// Counters, gauges and histograms with fixed label sets, and their export in the Prometheus text format.
// Thread-safe. An update is a relaxed atomic operation. Keep the reference to a series: to look it up by its
// labels takes a lock.
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Counter {
  public:
    void add(std::uint64_t amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> value_{0};
};

class Gauge {
  public:
    void set(std::int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
    void add(std::int64_t amount) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }
    std::int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::int64_t> value_{0};
};

class Histogram {
  public:
    explicit Histogram(std::vector<double> bounds);  // upper bounds, ascending, without +Inf
    void observe(double value) noexcept;

  private:
    friend class MetricsRegistry;
    std::vector<double> bounds_;
    std::vector<std::atomic<std::uint64_t>> counts_;  // one more than bounds
    std::atomic<double> sum_{0};
};

// `a="x",b="y"`, escaped, without braces.
std::string render_labels(const Labels& labels);
void append_number(std::string& out, double value);  // the shortest text that reads back the same

// Writes one family whose values the registry does not own. `labels` is the text that render_labels() makes.
class MetricFamily {
  public:
    // Writes the family's # lines. `type`: "counter", "gauge", "untyped".
    MetricFamily(std::string& out, std::string_view name, std::string_view help, std::string_view type);
    void add(std::string_view labels, double value);
    void add(std::string_view labels, std::uint64_t value);

  private:
    std::string& out_;
    std::string_view name_;
};

// Owns every series of a process. `type` is the text of the # TYPE line ("counter", "gauge", "histogram",
// "untyped").
class MetricsRegistry {
  public:
    Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
    Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {},
                 std::string_view type = "gauge");
    Histogram& histogram(std::string_view name, std::string_view help, const std::vector<double>& bounds,
                         const Labels& labels = {});
    // `collector` appends whole families, with their # lines, at each scrape. It runs on the scraping thread.
    void add_collector(std::function<void(std::string& out)> collector);
    std::string render() const;  // holds the lock while it lists the series, not while it writes them

  private:
    struct Series;
    struct Family {
        std::string help, type;
        std::map<std::string, std::shared_ptr<Series>> series;  // by rendered labels
    };
    struct Line {
        const std::string* name;
        const Family* family;
        std::string_view labels;
        const Series* series;
    };
    Family& family(std::string_view name, std::string_view help, std::string_view type);
    std::vector<Line> lines() const;
    static void append_histogram(std::string& out, std::string_view name, std::string_view labels,
                                 const Histogram& histogram);
    static void append_series(std::string& out, std::string_view name, std::string_view labels,
                              const Series& series);
    mutable std::mutex mutex_;
    std::map<std::string, Family, std::less<>> families_;
    std::vector<std::function<void(std::string&)>> collectors_;
    mutable std::atomic<std::size_t> last_size_{0};  // bytes of the last render()
};

}  // namespace svc
