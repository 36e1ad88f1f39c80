#include "instance-agent/agent/processes/image_command.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "instance-agent/agent/processes/forwarding_init.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* default_path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

using Line = std::vector<std::string>;  // the fields of a line of /etc/passwd or /etc/group

std::optional<unsigned> id_in(const std::string& text) {
    unsigned value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The lines of the file that have `least` fields, and an id as the third.
std::vector<Line> lines_of(const std::string& text, std::size_t least) {
    std::vector<Line> lines;
    for (const std::string& line : split(text, '\n'))
        if (Line fields = split(line, ':'); fields.size() >= least && id_in(fields[2]))
            lines.push_back(std::move(fields));
    return lines;
}

const Line* find_line(const std::vector<Line>& lines, const std::string& name_or_id) {
    const auto named = std::ranges::find_if(lines, [&](const Line& line) { return line[0] == name_or_id; });
    if (named != lines.end()) return &*named;
    const auto id = id_in(name_or_id);
    const auto numbered =
        std::ranges::find_if(lines, [&](const Line& line) { return id && id_in(line[2]) == id; });
    return numbered == lines.end() ? nullptr : &*numbered;
}

unsigned require_id(const Line* line, const std::string& name_or_id, const char* kind) {
    if (line != nullptr) return *id_in((*line)[2]);
    if (const auto id = id_in(name_or_id)) return *id;
    throw Error(ErrorCode::not_found, "the image has no " + std::string(kind) + " " + quoted(name_or_id));
}

void add_groups(const std::vector<Line>& groups, const std::string& user, ImageUser& found) {
    for (const Line& line : groups) {
        const auto members = split(line[3], ',');
        const unsigned id = *id_in(line[2]);
        if (id != found.gid && std::ranges::find(members, user) != members.end()) found.groups.push_back(id);
    }
}

std::string read_if_there(const char* file) {
    return ::access(file, F_OK) == 0 ? read_file(file) : "";
}

void set_environment(const ImageCommand& command, const ImageUser& user) {
    static std::vector<std::string> all;  // putenv() keeps the texts
    all = {default_path, "HOME=" + user.home};
    all.insert(all.end(), command.environment.begin(), command.environment.end());
    ::clearenv();
    for (std::string& variable : all) ::putenv(variable.data());
}

void enter_directory(const std::string& directory) {
    if (directory.empty()) return;
    std::error_code failure;
    std::filesystem::create_directories(directory, failure);
    if (::chdir(directory.c_str()) != 0) throw system_error("cannot enter " + quoted(directory), errno);
}

void become_user(const ImageUser& user) {
    if (user.uid == 0 && user.gid == 0) return;
    const std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setgid(user.gid) != 0 || ::setuid(user.uid) != 0)
        throw system_error("cannot become user " + std::to_string(user.uid), errno);
}

bool is_init(const std::string& program) {
    const std::string name = std::filesystem::path(program).filename();
    return name == "init" || name == "systemd";
}

[[noreturn]] void execute(const std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    throw system_error("cannot execute " + quoted(arguments.front()), errno);
}

}  // namespace

ImageCommand ImageCommand::parse(const std::string& text) {
    const std::size_t end_of_line = text.find('\n');
    if (!text.starts_with("#!") || end_of_line == std::string::npos)
        throw Error(ErrorCode::invalid_argument, "the file does not begin with #! and a program");
    const Json document = Json::parse(text.substr(end_of_line + 1));
    const JsonFields fields(document);
    ImageCommand command;
    command.arguments = fields.strings("arguments").value_or(std::vector<std::string>());
    command.environment = fields.strings("environment").value_or(std::vector<std::string>());
    command.directory = fields.string("directory").value_or("");
    command.user = fields.string("user").value_or("");
    command.stop_signal = fields.string("stop_signal").value_or("");
    if (command.arguments.empty()) throw Error(ErrorCode::invalid_argument, "arguments are missing");
    return command;
}

ImageUser find_image_user(const std::string& user, const std::string& passwd, const std::string& group) {
    const std::string wanted = user.empty() ? "0" : user;
    const std::size_t colon = wanted.find(':');
    const std::string user_part = wanted.substr(0, colon);
    const std::vector<Line> users = lines_of(passwd, 6);
    const std::vector<Line> groups = lines_of(group, 4);
    const Line* const line = find_line(users, user_part);
    ImageUser found;
    found.uid = require_id(line, user_part, "user");
    if (line != nullptr) {
        found.gid = id_in((*line)[3]).value_or(0);
        found.home = (*line)[5];
    }
    if (colon != std::string::npos) {
        const std::string group_part = wanted.substr(colon + 1);
        found.gid = require_id(find_line(groups, group_part), group_part, "group");
    }
    found.groups = {found.gid};
    if (line != nullptr && colon == std::string::npos) add_groups(groups, (*line)[0], found);
    return found;
}

int signal_named(const std::string& name) {
    const std::string short_name = name.starts_with("SIG") ? name.substr(3) : name;
    for (int number = 1; number < SIGRTMIN; ++number)
        if (const char* known = ::sigabbrev_np(number); known != nullptr && short_name == known)
            return number;
    constexpr std::string_view real_time = "RTMIN+";
    const bool is_real_time = short_name.starts_with(real_time);
    const auto number = id_in(is_real_time ? short_name.substr(real_time.size()) : short_name);
    const unsigned first = is_real_time ? static_cast<unsigned>(SIGRTMIN) : 0U;
    if (!number || *number > static_cast<unsigned>(SIGRTMAX) - first || first + *number == 0)
        throw Error(ErrorCode::invalid_argument, quoted(name) + " is no signal");
    return static_cast<int>(first + *number);
}

int run_image_command(const std::vector<std::string>& words) {
    if (words.size() != 1) throw Error(ErrorCode::invalid_argument, "usage: svc-agent init FILE");
    const ImageCommand command =
        with_context(words[0], [&] { return ImageCommand::parse(read_file(words[0])); });
    const ImageUser user =
        find_image_user(command.user, read_if_there("/etc/passwd"), read_if_there("/etc/group"));
    const int stop_signal = command.stop_signal.empty() ? SIGTERM : signal_named(command.stop_signal);
    const auto become = [&] {
        set_environment(command, user);
        enter_directory(command.directory);
        become_user(user);
        execute(command.arguments);
    };
    if (!is_init(command.arguments.front())) return run_below_init(become, stop_signal);
    become();
    return 0;  // not reached
}

}  // namespace svc::agent
