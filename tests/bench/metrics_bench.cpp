// What an update and a scrape of the registry cost. With prometheus-cpp at hand, the same of it.
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <string>
#include <vector>

#include "libsvc/base/metrics.h"

#ifdef SVC_PROMETHEUS_CPP
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#endif

namespace {

constexpr int series = 10'000;
constexpr int updates = 10'000'000;
constexpr int lookups = 1'000'000;
constexpr int renders = 20;
const std::vector<double> bounds{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};

std::string handler(int number) {
    return fmt::format("https_object{}_GET", number);
}

// Nanoseconds of one call, of `count`.
template <class Work>
double cost(int count, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) work(i);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / count;
}

std::size_t heap() {
    return mallinfo2().uordblks;
}

void print(const char* who, const char* what, double value, const char* unit) {
    fmt::print("{:16} {:44} {:12.1f} {}\n", who, what, value, unit);
}

template <class Registry>
void measure(const char* who) {
    const std::size_t before = heap();
    Registry registry;
    for (int i = 0; i < series; ++i) registry.counter(i);
    print(who, "memory of a counter", double(heap() - before) / series, "bytes");
    print(who, "update of a counter held", cost(updates, [&](int) { registry.update(); }), "ns");
    print(who, "observation of a histogram held",
          cost(updates, [&](int i) { registry.observe(0.001 * (i % 97)); }), "ns");
    print(who, "update of a counter looked up", cost(lookups, [&](int i) { registry.counter(i % series); }),
          "ns");
    std::size_t size = 0;
    print(who, "scrape of 10,000 series", cost(renders, [&](int) { size = registry.render(); }) / 1e6, "ms");
    print(who, "its text", double(size) / 1024, "KiB");
}

class Ours {
  public:
    void counter(int i) {
        registry_
            .counter("requests_total", "requests",
                     {{"handler", handler(i)}, {"host", "h"}, {"method", "get"}})
            .add();
    }
    void update() { held_.add(); }
    void observe(double value) { histogram_.observe(value); }
    std::size_t render() const { return registry_.render().size(); }

  private:
    svc::MetricsRegistry registry_;
    svc::Counter& held_ = registry_.counter("held_total", "held");
    svc::Histogram& histogram_ = registry_.histogram("seconds", "seconds", bounds);
};

#ifdef SVC_PROMETHEUS_CPP
class Theirs {
  public:
    void counter(int i) {
        family_.Add({{"handler", handler(i)}, {"host", "h"}, {"method", "get"}}).Increment();
    }
    void update() { held_.Increment(); }
    void observe(double value) { histogram_.Observe(value); }
    std::size_t render() const { return prometheus::TextSerializer().Serialize(registry_.Collect()).size(); }

  private:
    prometheus::Registry registry_;
    prometheus::Family<prometheus::Counter>& family_ =
        prometheus::BuildCounter().Name("requests_total").Help("requests").Register(registry_);
    prometheus::Counter& held_ =
        prometheus::BuildCounter().Name("held_total").Help("held").Register(registry_).Add({});
    prometheus::Histogram& histogram_ =
        prometheus::BuildHistogram().Name("seconds").Help("seconds").Register(registry_).Add({}, bounds);
};
#endif

}  // namespace

int main() {
    measure<Ours>("libsvc");
#ifdef SVC_PROMETHEUS_CPP
    measure<Theirs>("prometheus-cpp");
#endif
}
