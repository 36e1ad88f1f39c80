// Sensors, tracing, platform items.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "instance-agent/agent/ctl/ctl_command.h"
#include "instance-agent/agent/devices/sensors/sensor_types.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* sensors = "/1.0/sensors";
constexpr const char* tracing = "/1.0/tracing";
constexpr const char* platform = "/1.0/platform";

void set_sensor(const CtlCall& call) {
    const std::string& name = call.plain(0);
    std::string_view known;
    Json reading = Json::object({{"type", name}});
    for (const SensorType& type : sensor_types) {
        if (type.name != name) continue;
        known = type.name;
        std::size_t at = 1;
        for (const std::string_view field : type.fields) {
            if (field.empty()) continue;
            if (at == call.words.plain().size()) throw CtlUsageError(name + ": a value is missing");
            reading.set(std::string(field), parse_ctl_number(call.plain(at++)));
        }
        if (at != call.words.plain().size()) throw CtlUsageError(name + ": too many values");
    }
    if (known.empty()) throw CtlUsageError("unknown sensor " + quoted(name));
    (void)call.agent.ask(Method::patch, sensors, Json::array({std::move(reading)}).dump());
}

void copy_file(const std::string& from, int to) {
    const FileDescriptor file = open_file(from, O_RDONLY);
    std::string block(256U << 10, '\0');
    for (;;) {
        const ssize_t got = ::read(file.get(), block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read the trace", errno);
        if (got == 0) return;
        write_all(to, std::string_view(block).substr(0, static_cast<std::size_t>(got)));
    }
}

void stop_trace(const CtlCall& call) {
    const Json answer = call.agent.ask(Method::post, tracing, R"({"enable":false})");
    const auto output = call.words.flag("output");
    if (!output) return call.print(answer);
    const std::string trace = answer.at("path").as_string();
    if (*output == "-") return copy_file(trace, call.streams.out);
    copy_file(trace, open_file(*output, O_WRONLY | O_CREAT | O_TRUNC, 0644).get());
}

// The words true, false and numbers become JSON values, any other word a text.
Json item_value(const std::string& text) {
    try {
        return Json::parse(text);
    } catch (const Error&) {
        return text;
    }
}

// Sets all items in one request: one limit alone may contradict another.
void set_items(const CtlCall& call) {
    const auto& words = call.words.plain();
    if (words.size() % 2 != 0) throw CtlUsageError(words.back() + ": a value is missing");
    Json config = Json::object();
    for (std::size_t at = 0; at < words.size(); at += 2) config.set(words[at], item_value(words[at + 1]));
    (void)call.agent.ask(Method::patch, platform, Json::object({{"config", config}}).dump());
}

void reset_items(const CtlCall& call) {
    const JsonArray names(call.words.plain().begin(), call.words.plain().end());
    (void)call.agent.ask(Method::delete_, platform, Json::object({{"configs", names}}).dump());
}

void show(const CtlCall& call, const char* path) {
    call.print(call.agent.ask(Method::get, path));
}

}  // namespace

std::vector<CtlCommand> sensors_ctl() {
    auto commands = switch_ctl("sensors", sensors);
    commands.push_back({"sensors", "set", "TYPE VALUE...", 2, any_number, {}, set_sensor});
    return commands;
}

std::vector<CtlCommand> trace_ctl() {
    return {{"trace",
             "start",
             "",
             0,
             0,
             {},
             [](const CtlCall& call) { (void)call.agent.ask(Method::post, tracing, R"({"enable":true})"); }},
            {"trace", "stop", "[--output FILE|-]", 0, 0, {"output"}, stop_trace},
            {"trace", "show", "", 0, 0, {}, [](const CtlCall& call) { show(call, tracing); }}};
}

std::vector<CtlCommand> platform_ctl() {
    return {{"platform", "show", "", 0, 0, {}, [](const CtlCall& call) { show(call, platform); }},
            {"platform", "set", "ITEM VALUE [ITEM VALUE...]", 2, any_number, {}, set_items},
            {"platform", "reset", "ITEM...", 1, any_number, {}, reset_items}};
}

}  // namespace svc::agent
