#include <algorithm>
#include <numeric>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "cli/waiting.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

struct Launch {
    std::string id;
    Duration took{};
    std::string error;  // "": it runs
};

double positive_number(const Arguments& arguments, const std::string& flag) {
    const std::string text = arguments.text(flag);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != '\0' || !(number > 0))
        throw UsageError("--" + flag + ": expected a number above 0");
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

Launch launch_one(Waiting& waiting, Context& context, const Json& payload) {
    const SystemClock clock;
    const SteadyTime begin = clock.steady_now();
    Launch launch;
    try {
        const Json started = context.client().launch(payload);
        launch.id = resource_id(started, {"containers", "instances"});
        waiting.finish(started);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw;
        launch.error = e.what();
    }
    launch.took = clock.steady_now() - begin;
    return launch;
}

// After Ctrl-C they are removed as well, but nobody waits for it.
void remove_all(Waiting& waiting, Context& context, const std::vector<Launch>& launches) {
    for (const Launch& launch : launches) {
        if (launch.id.empty()) continue;
        try {
            const Json started = context.client().delete_instance(launch.id, true);
            if (!Interrupts::requested()) waiting.finish(started);
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found)
                context.console().print_error_line("Error: " + launch.id + ": " + e.what());
        }
    }
}

std::string report(const std::vector<Launch>& launches) {
    std::vector<Duration> times;
    std::string errors;
    for (const Launch& launch : launches)
        if (launch.error.empty())
            times.push_back(launch.took);
        else
            errors += "  " + launch.error + "\n";
    std::string text = "launched: " + std::to_string(times.size()) +
                       "\nfailed: " + std::to_string(launches.size() - times.size()) + "\n" + errors;
    if (times.empty()) return text;
    const Duration total = std::accumulate(times.begin(), times.end(), Duration::zero());
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    return text + "launch time: total " + format_duration(total) + ", average " +
           format_duration(total / static_cast<std::int64_t>(times.size())) + ", minimum " +
           format_duration(*least) + ", maximum " + format_duration(*most) + "\n";
}

int benchmark(Context& context, const Arguments& arguments) {
    const auto count = static_cast<std::int64_t>(positive_number(arguments, "num-instances"));
    const auto interval = std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(1 / positive_number(arguments, "instances-per-second")));
    const Json payload = payload_of(arguments);
    Waiting waiting(context, arguments, false);
    SystemClock clock;
    std::vector<Launch> launches;
    const SteadyTime begin = clock.steady_now();
    for (std::int64_t i = 0; i < count && !Interrupts::requested(); ++i) {
        const Duration early = begin + i * interval - clock.steady_now();
        if (early > Duration::zero()) clock.wait({}, early);
        launches.push_back(launch_one(waiting, context, payload));
    }
    context.console().print(report(launches));
    if (!arguments.is_set("keep-instances")) remove_all(waiting, context, launches);
    return std::all_of(launches.begin(), launches.end(), [](const Launch& l) { return l.error.empty(); }) ? 0
                                                                                                          : 1;
}

}  // namespace

Command benchmark_command() {
    return {{"benchmark"},
            {},
            "launch instances one after the other and tell how long they took",
            {{"id", "id or name of the application, or of the image with --raw"}},
            {{"num-instances", 'n', "N", "how many", "1"},
             {"instances-per-second", 's', "RATE", "launches begin no faster than this", "0.1"},
             {"raw", 'r', "", "launch from an image"},
             {"instance-type", 'i', "TYPE", "of a raw launch", "a2.3"},
             {"platform", 'p', "NAME", "null, swrast or webrtc", "null"},
             {"features", 0, "LIST", "features to switch on, separated by commas", "", {}, true},
             {"userdata", 0, "TEXT", "data to put into the instances"},
             {"keep-instances", 0, "", "do not delete them afterwards"},
             timeout_flag()},
            benchmark};
}

}  // namespace svc::cli
