#include "cli/actions/lifetime.h"
#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/command_line/service_syntax.h"
#include "cli/commands/commands.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/numbers.h"
#include "libsvc/model/values/size.h"

namespace svc::cli {
namespace {

std::vector<Flag> launch_flags() {
    std::vector<Flag> flags{
        {"name", 0, "NAME", "what it is called beside its id; also the guest's host name"},
        {"protect", 0, "", "refuse to delete it until `unprotect`"},
        {"raw", 'r', "", "launch from an image, not from an application"},
        {"version", 0, "N", "version of the image; -1: the newest", "-1"},
        {"application-version", 0, "N", "version of the application; -1: the newest that is published", "-1"},
        {"instance-type", 'i', "TYPE", "of a raw launch: a2.3 is 2 CPUs, 3 GB memory, 3 GB disk", "a2.3"},
        {"cpus", 'c', "N", "CPU cores, instead of the instance type's"},
        {"memory", 'm', "SIZE", "memory (4GB), instead of the instance type's"},
        {"disk-size", 'd', "SIZE", "disk (8GB), instead of the instance type's"},
        {"gpu-slots", 'g', "N", "GPU slots; -1: the instance type's", "-1"},
        {"node", 'n', "NAME", "run on this node, not on one that the service picks"},
        {"platform", 'p', "NAME", "webrtc or swrast: made to be streamed; null: not"},
        {"service",
         's',
         "SERVICE",
         "[+][<name>:]<proto>[,<proto>]:<port>[-<end>], [+]ssh, [+]adb; + exposes it",
         "",
         {},
         true},
        {"features", 'f', "LIST", "features to switch on, separated by commas", "", {}, true},
        {"addons", 'a', "LIST", "addons of a raw launch, separated by commas", "", {}, true},
        {"tags", 0, "LIST", "tags, separated by commas", "", {}, true},
        {"userdata", 0, "TEXT", "text for the guest to read: its user data"},
        {"userdata-path", 0, "FILE", "the same from a file"},
        {"metrics-server", 0, "ADDRESS", "where the instance sends its metrics"},
        {"disable-watchdog", 0, "", "do not watch the application"},
        {"devmode", 0, "", "development mode: failures do not end the instance"},
        no_wait_flag(),
        timeout_flag(),
    };
    const std::vector<Flag> limits = lifetime_flags();
    flags.insert(flags.begin() + 2, limits.begin(), limits.end());
    return flags;
}

std::uint64_t size_of(const Arguments& arguments, const std::string& flag) {
    try {
        return parse_size(flag, arguments.text(flag));
    } catch (const Error& e) {
        throw UsageError(std::string("--") + flag + ": " + e.what());
    }
}

std::string user_data(const Arguments& arguments) {
    if (!arguments.given("userdata-path")) return arguments.text("userdata");
    if (arguments.given("userdata")) throw UsageError("--userdata and --userdata-path exclude each other");
    const std::string path = arguments.text("userdata-path");
    return with_context("user data " + quoted(path), [&] { return read_file(path); });
}

Json text_array(const std::vector<std::string>& texts) {
    Json array = Json::array();
    for (const auto& text : texts) array.push_back(text);
    return array;
}

Json config_of(const Arguments& arguments) {
    Json config = Json::object();
    if (arguments.given("platform")) config.set("platform", arguments.text("platform"));
    if (arguments.given("features")) config.set("features", join(arguments.comma_list("features"), ","));
    if (arguments.given("metrics-server")) config.set("metrics_server", arguments.text("metrics-server"));
    if (arguments.is_set("disable-watchdog")) config.set("disable_watchdog", true);
    if (arguments.is_set("devmode")) config.set("devmode", true);
    if (arguments.is_set("protect")) config.set("security", Json::object({{"delete_protected", true}}));
    return config;
}

void set_resources(Json& payload, const Arguments& arguments) {
    if (const auto cpus = arguments.number("cpus")) payload.set("cpu", number_json(*cpus));
    if (arguments.given("memory")) payload.set("memory", size_of(arguments, "memory"));
    if (arguments.given("disk-size")) payload.set("disk_size", size_of(arguments, "disk-size"));
    if (const auto slots = arguments.integer("gpu-slots"); *slots != -1) payload.set("gpu_slots", *slots);
}

// The request without its source. Checks all flags before the first request to the service.
Json payload_of(const Arguments& arguments, bool start) {
    Json payload = Json::object();
    set_resources(payload, arguments);
    if (arguments.given("name")) payload.set("name", arguments.text("name"));
    if (arguments.given("node")) payload.set("node", arguments.text("node"));
    set_lifetime(payload, arguments);
    if (const std::string data = user_data(arguments); !data.empty()) payload.set("user_data", data);
    Json services = Json::array();
    for (const auto& text : arguments.list("service")) services.push_back(parse_service(text).to_json());
    if (!services.as_array().empty()) payload.set("services", services);
    if (arguments.given("addons")) payload.set("addons", text_array(arguments.comma_list("addons")));
    if (arguments.given("tags")) payload.set("tags", text_array(arguments.comma_list("tags")));
    if (!start) payload.set("no_start", true);
    payload.set("config", config_of(arguments));
    return payload;
}

std::string default_image(Context& context) {
    const Json image = context.client().default_image();
    if (image.is_null())
        throw Error(ErrorCode::not_found, "no image given, and the service has no default image");
    return image.at("id").as_string();
}

// An id or name means an application, or an image when no application has it.
Named find_source(Context& context, const Arguments& arguments) {
    if (!arguments.given("source")) return {Noun::image, default_image(context)};
    const std::vector<Noun> nouns =
        arguments.is_set("raw") ? std::vector{Noun::image} : std::vector{Noun::application, Noun::image};
    return find_named(context.client(), nouns, arguments.text("source"));
}

void set_image(Json& payload, const std::string& image, const Arguments& arguments) {
    if (arguments.given("application-version"))
        throw UsageError("--application-version goes with an application only");
    payload.set("image_id", image);
    payload.set("instance_type", arguments.text("instance-type"));
    if (const auto version = arguments.integer("version"); *version != -1)
        payload.set("image_version", *version);
}

void set_application(Json& payload, const std::string& application, const Arguments& arguments) {
    for (const char* flag : {"version", "instance-type", "addons"})
        if (arguments.given(flag))
            throw UsageError(std::string("--") + flag + " goes with a raw launch only");
    payload.set("app_id", application);
    if (const auto version = arguments.integer("application-version"); *version != -1)
        payload.set("app_version", *version);
}

int launch(Context& context, const Arguments& arguments, bool start) {
    Json payload = payload_of(arguments, start);
    Waiting waiting(context, arguments, true);
    const Named source = find_source(context, arguments);
    if (source.noun == Noun::image)
        set_image(payload, source.id, arguments);
    else
        set_application(payload, source.id, arguments);
    const auto record = waiting.finish(context.client().launch(payload));
    if (record) context.console().print_line(resource_id(*record, {"containers", "instances"}));
    return 0;
}

Command make(std::string name, std::string summary, bool start) {
    return {
        {std::move(name)},
        {},
        std::move(summary),
        {{"source", "id or name of an application, else of an image; the default image when left out",
          false}},
        launch_flags(),
        [start](Context& context, const Arguments& arguments) { return launch(context, arguments, start); },
        "Prints the id of the instance."};
}

}  // namespace

Command launch_command() {
    return make("launch", "launch an instance and wait until it runs", true);
}

Command init_command() {
    return make("init", "prepare an instance without starting it", false);
}

}  // namespace svc::cli
