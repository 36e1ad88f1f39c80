#include <unistd.h>

#include <cerrno>

#include "instance-agent/agent/ctl/ctl_command.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* location = "/1.0/location";
constexpr std::size_t most_line = 4096;

std::int64_t present_time() {
    const auto now = SystemClock().now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

void set_location(const CtlCall& call) {
    const CtlWords& words = call.words;
    Json body = Json::object({{"latitude", parse_ctl_number(call.plain(0))},
                              {"longitude", parse_ctl_number(call.plain(1))},
                              {"altitude", words.number("altitude").value_or(0)},
                              {"speed", words.number("speed").value_or(0)},
                              {"bearing", words.number("bearing").value_or(0)}});
    const auto time = words.flag("time");
    body.set("time", time ? parse_ctl_integer(*time) : present_time());
    if (const auto accuracy = words.number("accuracy")) body.set("horizontal_accuracy", *accuracy);
    if (const auto accuracy = words.number("vertical-accuracy")) body.set("vertical_accuracy", *accuracy);
    (void)call.agent.ask(Method::patch, location, body.dump());
}

void send_line(const CtlCall& call, std::string_view line) {
    if (trim(line).empty()) return;
    Json body = Json::parse(line);
    if (body.is_object() && body.find("time") == nullptr) body.set("time", present_time());
    (void)call.agent.ask(Method::patch, location, body.dump());
}

// Reads updates from standard input, one a line, as fast as they come.
void feed(const CtlCall& call) {
    std::string waiting, block(most_line, '\0');
    for (;;) {
        const ssize_t got = ::read(call.streams.in, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read standard input", errno);
        if (got == 0) break;
        waiting.append(block, 0, static_cast<std::size_t>(got));
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = waiting.find('\n', begin)) != std::string::npos; begin = end + 1)
            send_line(call, std::string_view(waiting).substr(begin, end - begin));
        waiting.erase(0, begin);
        if (waiting.size() > most_line) throw Error(ErrorCode::invalid_argument, "a line is too long");
    }
    send_line(call, waiting);
}

}  // namespace

std::vector<CtlCommand> location_ctl() {
    auto commands = switch_ctl("location", location);
    commands.push_back({"location",
                        "set",
                        "LAT LON [--altitude M] [--speed M/S] [--bearing DEGREES] [--accuracy M] "
                        "[--vertical-accuracy M] [--time MS]",
                        2,
                        2,
                        {"altitude", "speed", "bearing", "accuracy", "vertical-accuracy", "time"},
                        set_location});
    commands.push_back({"location", "feed", "< UPDATES (a JSON object a line)", 0, 0, {}, feed});
    return commands;
}

}  // namespace svc::agent
