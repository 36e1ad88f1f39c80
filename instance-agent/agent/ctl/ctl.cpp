#include "instance-agent/agent/ctl/ctl.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "instance-agent/agent/ctl/ctl_command.h"
#include "instance-agent/agent/files/socket_folder.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

enum ExitStatus { refused = 1, usage_error = 2, no_agent = 3 };
constexpr std::size_t most_body = 64U << 20;

void request(const CtlCall& call) {
    const Method method = parse_method(call.plain(0));
    if (method == Method::other) throw CtlUsageError("unknown method " + quoted(call.plain(0)));
    if (!call.plain(1).starts_with("/")) throw CtlUsageError("a path begins with /");
    std::string body = call.words.plain().size() > 2 ? call.plain(2) : "";
    if (body == "-") body = read_input(call, "-", most_body);
    const auto answer = call.agent.ask_anything(method, call.plain(1), body);
    if (!answer.text.empty()) write_all(call.streams.out, answer.text);
    call.print(answer.metadata);
}

std::vector<CtlCommand> all_commands() {
    std::vector<CtlCommand> all;
    for (const auto make :
         {location_ctl, camera_ctl, sensors_ctl, trace_ctl, platform_ctl, vehicle_ctl, telephony_ctl})
        for (CtlCommand& command : make()) all.push_back(std::move(command));
    all.push_back({"request", "", "METHOD PATH [BODY|-]", 2, 3, {}, request});
    return all;
}

std::string usage_of(const CtlCommand& command) {
    std::string text(command.noun);
    for (const std::string_view part : {command.verb, command.usage})
        if (!part.empty()) text.append(" ").append(part);
    return text;
}

// The help for all commands, or for those of one noun.
std::string help(const std::vector<CtlCommand>& commands, std::string_view noun = "") {
    std::string text = "usage: svc-agent ctl [--api-socket PATH] COMMAND\n";
    for (const CtlCommand& command : commands)
        if (noun.empty() || noun == command.noun) text.append("  ").append(usage_of(command)).append("\n");
    return text + "exit status: 0 done, 1 refused, 2 wrong usage, 3 no agent answers\n";
}

bool is_help_flag(const std::string& word) {
    return word == "--help" || word == "-h";
}

// The help that the words ask for: for all commands, or for the noun before --help.
std::optional<std::string> help_asked(const std::vector<CtlCommand>& commands,
                                      const std::vector<std::string>& words) {
    if (words.empty()) return std::nullopt;
    if (words[0] == "help" || is_help_flag(words[0])) return help(commands);
    const auto is_noun = [&](const CtlCommand& command) { return command.noun == words[0]; };
    if (std::none_of(commands.begin(), commands.end(), is_noun)) return std::nullopt;
    for (std::size_t at = 1; at < std::min<std::size_t>(words.size(), 3) && words[at] != "--"; ++at)
        if (is_help_flag(words[at])) return help(commands, words[0]);
    return std::nullopt;
}

const CtlCommand& find(const std::vector<CtlCommand>& commands, const std::vector<std::string>& words) {
    if (words.empty()) throw CtlUsageError("no command given; see 'svc-agent ctl --help'");
    const std::string& noun = words[0];
    const std::string verb = words.size() > 1 ? words[1] : "";
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CtlCommand& command) {
        return command.noun == noun && (command.verb.empty() || command.verb == verb);
    });
    if (found == commands.end())
        throw CtlUsageError("unknown command " + quoted(noun + (verb.empty() ? "" : " " + verb)) +
                            "; see 'svc-agent ctl --help'");
    return *found;
}

// Takes --api-socket and its value from the words before the command.
std::filesystem::path take_socket(std::vector<std::string>& words) {
    const std::string name = "--api-socket";
    std::filesystem::path socket = default_api_socket;
    if (words.empty() || !words[0].starts_with(name)) return socket;
    if (words[0] == name && words.size() < 2) throw CtlUsageError("flag --api-socket needs a value");
    const bool alone = words[0] == name;
    if (!alone && words[0][name.size()] != '=') return socket;
    socket = alone ? words[1] : words[0].substr(name.size() + 1);
    words.erase(words.begin(), words.begin() + (alone ? 2 : 1));
    return socket;
}

void run(std::vector<std::string> words, const CtlStreams& streams) {
    const auto commands = all_commands();
    const AgentClient agent(take_socket(words));
    if (const auto text = help_asked(commands, words)) return write_all(streams.out, *text);
    const CtlCommand& command = find(commands, words);
    words.erase(words.begin(), words.begin() + (command.verb.empty() ? 1 : 2));
    const CtlWords parsed(words, command.flags);
    if (parsed.plain().size() < command.least || parsed.plain().size() > command.most)
        throw CtlUsageError("usage: svc-agent ctl " + usage_of(command));
    command.run({agent, parsed, streams});
}

int report(const CtlStreams& streams, const std::exception& error, int status) noexcept {
    try {
        write_all(streams.err, "svc-agent: " + std::string(error.what()) + "\n");
    } catch (const std::exception&) {
        // stderr is closed; the exit status still tells.
    }
    return status;
}

}  // namespace

void CtlCall::print(const Json& metadata) const {
    if (!metadata.is_null()) write_all(streams.out, metadata.dump_pretty() + "\n");
}

std::string read_input(const CtlCall& call, const std::string& file, std::size_t most) {
    FileDescriptor opened;
    if (file != "-") opened = open_file(file, O_RDONLY);
    const int fd = file == "-" ? call.streams.in : opened.get();
    std::string data, block(64U << 10, '\0');
    for (;;) {
        const ssize_t got = ::read(fd, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("cannot read " + quoted(file), errno);
        if (got == 0) return data;
        data.append(block, 0, static_cast<std::size_t>(got));
        if (data.size() > most) throw Error(ErrorCode::exhausted, quoted(file) + " is too large");
    }
}

std::vector<CtlCommand> switch_ctl(std::string_view noun, const std::string& path) {
    const auto turn = [path](bool on) {
        return [path, on](const CtlCall& call) {
            call.print(call.agent.ask(Method::post, path, Json::object({{"enable", on}}).dump()));
        };
    };
    return {{noun, "enable", "", 0, 0, {}, turn(true)},
            {noun, "disable", "", 0, 0, {}, turn(false)},
            {noun, "show", "", 0, 0, {}, [path](const CtlCall& call) {
                 call.print(call.agent.ask(Method::get, path));
             }}};
}

int run_ctl(const std::vector<std::string>& words, const CtlStreams& streams) noexcept {
    try {
        run(words, streams);
        return 0;
    } catch (const CtlUsageError& e) {
        return report(streams, e, usage_error);
    } catch (const Error& e) {
        return report(streams, e, e.code() == ErrorCode::unavailable ? no_agent : refused);
    } catch (const std::exception& e) {
        return report(streams, e, refused);
    }
}

}  // namespace svc::agent
