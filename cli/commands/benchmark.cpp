#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/views/benchmark_report.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr Duration longest_pause = std::chrono::milliseconds(50);  // how often Ctrl-C is checked
constexpr std::int64_t most_at_once = 1000;

struct Plan {
    Json payload;
    std::int64_t count = 1;
    std::int64_t parallel = 1;
    Duration interval{};  // least time between two launches
    std::optional<Duration> timeout;
};

std::int64_t count_of(const Arguments& arguments, const std::string& flag, std::int64_t most) {
    const std::int64_t number = arguments.integer(flag).value_or(1);
    if (number < 1 || number > most)
        throw UsageError("--" + flag + ": expected a number from 1 to " + std::to_string(most));
    return number;
}

double rate_of(const Arguments& arguments) {
    const std::string text = arguments.text("instances-per-second");
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != '\0' || !(number > 0))
        throw UsageError("--instances-per-second: expected a number above 0");
    return number;
}

Json payload_of(const Arguments& arguments) {
    Json payload = Json::object({{arguments.is_set("raw") ? "image_id" : "app_id", arguments.text("id")}});
    if (arguments.is_set("raw")) payload.set("instance_type", arguments.text("instance-type"));
    if (arguments.given("userdata")) payload.set("user_data", arguments.text("userdata"));
    Json config = Json::object({{"platform", arguments.text("platform")}});
    if (arguments.given("features")) config.set("features", join(arguments.comma_list("features"), ","));
    payload.set("config", std::move(config));
    return payload;
}

Plan plan_of(const Arguments& arguments) {
    Plan plan;
    plan.payload = payload_of(arguments);
    plan.count = count_of(arguments, "num-instances", 1'000'000);
    plan.parallel = std::min(plan.count, count_of(arguments, "parallel", most_at_once));
    const std::chrono::duration<double> interval(1 / rate_of(arguments));
    if (plan.parallel == 1 || arguments.given("instances-per-second"))
        plan.interval = std::chrono::duration_cast<Duration>(interval);
    plan.timeout = timeout_of(arguments);
    return plan;
}

class Benchmark {
  public:
    Benchmark(const Context& context, Plan plan) : context_(context), plan_(std::move(plan)) {}
    void launch_all();
    void remove_all();  // also after Ctrl-C
    BenchmarkResult result();

  private:
    struct Connection {
        explicit Connection(const Target& target) : client(target), waiter(client) {}
        ApiClient client;
        OperationWaiter waiter;
    };
    using Work = std::function<void(Connection&, std::size_t)>;

    Duration on_threads(std::size_t count, const Work& work);
    void wait_for_turn(std::size_t index, SteadyTime begin);
    void launch(Connection& connection);
    void remove(Connection& connection, const std::string& id);
    void measure(Measured& measured, const std::function<void()>& work);

    const Context& context_;
    const Plan plan_;
    SystemClock clock_;
    std::mutex mutex_;  // guards the members below
    std::vector<std::string> ids_;
    BenchmarkResult result_;
};

// Runs the requests on several threads, each with its own connection. When the service is gone, the threads
// stop and this throws.
Duration Benchmark::on_threads(std::size_t count, const Work& work) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    const SteadyTime begin = clock_.steady_now();
    {
        std::vector<std::jthread> threads;
        const auto width = std::min<std::size_t>(count, static_cast<std::size_t>(plan_.parallel));
        for (std::size_t i = 0; i < width; ++i)
            threads.emplace_back([&] {
                try {
                    Connection connection(context_.target());
                    for (std::size_t index = next++; index < count; index = next++) work(connection, index);
                } catch (const std::exception&) {
                    next = count;
                    const std::lock_guard lock(mutex_);
                    failure = std::current_exception();
                }
            });
    }
    if (failure) std::rethrow_exception(failure);
    return clock_.steady_now() - begin;
}

void Benchmark::wait_for_turn(std::size_t index, SteadyTime begin) {
    for (;;) {
        const Duration early =
            begin + static_cast<std::int64_t>(index) * plan_.interval - clock_.steady_now();
        if (early <= Duration::zero() || Interrupts::requested()) return;
        clock_.wait({}, std::min(early, longest_pause));
    }
}

void Benchmark::measure(Measured& measured, const std::function<void()>& work) {
    const SteadyTime begin = clock_.steady_now();
    std::optional<std::string> error;
    try {
        work();
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw;
        error = e.what();
    }
    const Duration took = clock_.steady_now() - begin;
    const std::lock_guard lock(mutex_);
    if (error)
        measured.errors.push_back(std::move(*error));
    else
        measured.took.push_back(took);
}

void Benchmark::launch(Connection& connection) {
    OperationWaitOptions options;
    options.timeout = plan_.timeout;
    options.cancel_requested = [] { return Interrupts::requested(); };
    measure(result_.launches, [&] {
        const Json started = connection.client.launch(plan_.payload);
        {
            const std::lock_guard lock(mutex_);
            ids_.push_back(resource_id(started, {"containers", "instances"}));
        }
        require_success(connection.waiter.wait(started.at("id").as_string(), options));
    });
}

void Benchmark::remove(Connection& connection, const std::string& id) {
    OperationWaitOptions options;
    options.timeout = plan_.timeout;
    measure(result_.deletions, [&] {
        const Json started = connection.client.delete_instance(id, true);
        require_success(connection.waiter.wait(started.at("id").as_string(), options));
    });
}

void Benchmark::launch_all() {
    const SteadyTime begin = clock_.steady_now();
    result_.launching =
        on_threads(static_cast<std::size_t>(plan_.count), [&](Connection& connection, std::size_t index) {
            wait_for_turn(index, begin);
            if (!Interrupts::requested()) launch(connection);
        });
}

void Benchmark::remove_all() {
    const auto ids = ids_;
    result_.deleting = on_threads(ids.size(), [&](Connection& connection, std::size_t index) {
        try {
            connection.client.instance(ids[index]);
        } catch (const Error& e) {
            if (e.code() == ErrorCode::not_found) return;  // removed with its launch, which was cancelled
            throw;
        }
        remove(connection, ids[index]);
    });
}

BenchmarkResult Benchmark::result() {
    result_.interrupted = Interrupts::requested();
    return result_;
}

int benchmark(Context& context, const Arguments& arguments) {
    const Interrupts interrupts;
    Benchmark bench(context, plan_of(arguments));
    bench.launch_all();
    if (!arguments.is_set("keep-instances")) bench.remove_all();
    const BenchmarkResult result = bench.result();
    context.console().print(render(benchmark_document(result), format_of(arguments)));
    for (const Measured* measured : {&result.launches, &result.deletions})
        for (const std::string& error : measured->errors)
            context.console().print_error_line("Error: " + error);
    if (result.interrupted) return 130;
    return result.launches.errors.empty() && result.deletions.errors.empty() ? 0 : 1;
}

}  // namespace

Command benchmark_command() {
    return {
        {"benchmark"},
        {},
        "launch instances, delete them, and tell how long both took",
        {{"id", "id or name of the application, or of the image with --raw"}},
        {{"num-instances", 'n', "N", "how many", "1"},
         {"parallel", 'P', "N", "how many at once", "1"},
         {"instances-per-second", 's', "RATE",
          "launches begin no faster than this; with --parallel only where it is given", "0.1"},
         {"raw", 'r', "", "launch from an image"},
         {"instance-type", 'i', "TYPE", "of a raw launch", "a2.3"},
         {"platform", 'p', "NAME", "null, swrast or webrtc", "null"},
         {"features", 0, "LIST", "features to switch on, separated by commas", "", {}, true},
         {"userdata", 0, "TEXT", "data to put into the instances"},
         {"keep-instances", 0, "", "do not delete them afterwards"},
         format_flag("table"),
         timeout_flag()},
        benchmark,
        "Times are in milliseconds, from the request until the end of its operation. A launch or deletion "
        "that "
        "takes longer than --timeout has failed. After Ctrl-C no more are launched, and those that are there "
        "are deleted."};
}

}  // namespace svc::cli
