// svc-bench events: many subscribers, events that API calls cause, what each subscriber got and when.
// svc-bench idle: memory that subscribers to whom nothing happens cost the server.
#include <algorithm>
#include <charconv>
#include <iostream>

#include "libsvc/base/json.h"
#include "tests/bench/load/audience.h"
#include "tests/bench/load/callers.h"
#include "tests/bench/load/commands.h"
#include "tests/bench/load/latencies.h"
#include "tests/bench/load/process_memory.h"

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr unsigned trial_calls = 20;  // to see how many events a call makes
constexpr auto quiet = 1s;            // without an event: all that was caused has come

std::uint64_t number_at(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Of {"type":...,"timestamp":...,"metadata":...,"sequence":N}
std::uint64_t sequence_of(std::string_view text) {
    return number_at(text.substr(std::min(text.rfind(':') + 1, text.size())));
}

// Nanoseconds of the day of "...T12:34:56.123456789Z", which is short of the year's date for speed.
std::chrono::nanoseconds time_of(std::string_view text) {
    const auto at = text.find("\"timestamp\":\"") + 13 + 11;
    if (at + 18 > text.size()) throw Error(ErrorCode::invalid_argument, "event has no timestamp");
    return std::chrono::hours(number_at(text.substr(at, 2))) +
           std::chrono::minutes(number_at(text.substr(at + 3, 2))) +
           std::chrono::seconds(number_at(text.substr(at + 6, 2))) +
           std::chrono::nanoseconds(number_at(text.substr(at + 9, 9)));
}

std::chrono::nanoseconds time_of_day() {
    const auto now = std::chrono::system_clock::now();
    return now - std::chrono::floor<std::chrono::days>(now);
}

class EventsRun {
  public:
    explicit EventsRun(const Arguments& arguments)
        : endpoint_(arguments.text("target"), arguments.text("certificate", ""), arguments.text("key", "")),
          rate_(arguments.number("rate", 1000)),
          duration_(arguments.number("seconds", 5)),
          audience_(endpoint_, arguments.text("path", "/1.0/events"),
                    [this](Subscriber& one, std::string_view text) { take(one, text); }),
          callers_(endpoint_, arguments.text("method", "POST"), arguments.text("call"),
                   arguments.text("body", "")) {
        audience_.open(arguments.number("subscribers", 1000));
    }

    Json run() {
        const double events_per_call = try_calls();
        callers_.set_rate(rate_ / events_per_call);
        measuring_ = true;
        first_ = newest_;
        const auto begin = Steady::now();
        turn_until(begin + duration_, true);
        const double published = static_cast<double>(newest_ - first_);
        const double seconds = std::chrono::duration<double>(Steady::now() - begin).count();
        settle();
        return report(published / seconds, events_per_call);
    }

  private:
    void take(Subscriber& one, std::string_view text) {
        const auto sequence = sequence_of(text);
        if (one.last != 0 && sequence != one.last + 1)
            one.lost += sequence > one.last ? sequence - one.last - 1 : 1;
        one.last = sequence;
        ++one.received;
        if (sequence > newest_) newest_ = sequence, newest_at_ = Steady::now();
        if (measuring_) latencies_.add(time_of_day() - time_of(text));
    }

    void turn_until(Steady::time_point end, bool more) {
        while (Steady::now() < end) {
            callers_.advance(more);
            audience_.poll(1ms);
        }
    }

    // Until no event has come for a while.
    void settle() {
        newest_at_ = Steady::now();
        while (callers_.busy() || Steady::now() < newest_at_ + quiet) {
            callers_.advance(false);
            audience_.poll(1ms);
        }
        const auto deadline = Steady::now() + 20s;
        const auto behind = [this](const auto& one) { return one->last != newest_; };
        while (Steady::now() < deadline &&
               std::any_of(audience_.all().begin(), audience_.all().end(), behind))
            audience_.poll(10ms);
    }

    double try_calls() {
        callers_.set_rate(1000);
        while (callers_.answered() + callers_.failed() == 0) callers_.advance(true), audience_.poll(1ms);
        settle();
        const auto calls = callers_.answered();
        const auto events = newest_;
        while (callers_.answered() < calls + trial_calls) callers_.advance(true), audience_.poll(1ms);
        settle();
        if (newest_ == events) throw Error(ErrorCode::unavailable, "the calls cause no events");
        return static_cast<double>(newest_ - events) / static_cast<double>(callers_.answered() - calls);
    }

    Json report(double per_second, double events_per_call) const {
        std::uint64_t lost = 0, received = 0;
        for (const auto& one : audience_.all()) {
            lost += one->lost + newest_ - one->last;
            received += one->received;
        }
        return Json::object({{"subscribers", audience_.all().size()},
                             {"events_per_second", per_second},
                             {"events_per_call", events_per_call},
                             {"calls", callers_.answered()},
                             {"failed_calls", callers_.failed()},
                             {"delivered", received},
                             {"lost", lost},
                             {"cut_off", audience_.count(Subscriber::State::ended)},
                             {"p50_ms", latencies_.milliseconds(0.5)},
                             {"p99_ms", latencies_.milliseconds(0.99)},
                             {"max_ms", latencies_.max_milliseconds()}});
    }

    const Endpoint endpoint_;
    const double rate_;
    const std::chrono::seconds duration_;
    Audience audience_;
    Callers callers_;
    Latencies latencies_;
    bool measuring_ = false;
    std::uint64_t first_ = 0, newest_ = 0;
    Steady::time_point newest_at_;
};

}  // namespace

int events_command(const Arguments& arguments) {
    const auto run = std::make_unique<EventsRun>(arguments);
    std::cout << run->run().dump() << std::endl;
    return 0;
}

int idle_command(const Arguments& arguments) {
    const Endpoint endpoint(arguments.text("target"), arguments.text("certificate", ""),
                            arguments.text("key", ""));
    const std::string pid = arguments.text("pid");
    const unsigned count = arguments.number("subscribers", 10000);
    Audience audience(endpoint, arguments.text("path", "/1.0/events"), [](Subscriber&, std::string_view) {});
    audience.open(1);
    const auto rss = memory_of(pid, "Rss"), pss = memory_of(pid, "Pss");
    audience.open(count);
    const auto end = Steady::now() + std::chrono::seconds(arguments.number("seconds", 3));
    while (Steady::now() < end) audience.poll(10ms);
    const auto each = [count](std::uint64_t after, std::uint64_t before) {
        return (static_cast<double>(after) - static_cast<double>(before)) / count;
    };
    std::cout << Json::object({{"subscribers", audience.count(Subscriber::State::open)},
                               {"rss_kib_each", each(memory_of(pid, "Rss"), rss)},
                               {"pss_kib_each", each(memory_of(pid, "Pss"), pss)}})
                     .dump()
              << std::endl;
    return 0;
}

}  // namespace svc::bench
