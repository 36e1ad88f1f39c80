#include "instance-agent/agent/processes/image_command.h"

#include <grp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "instance-agent/agent/processes/forwarding_init.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/oci/command.h"

namespace svc::agent {
namespace {

constexpr const char* default_path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const dev_t null_device = ::makedev(1, 3);

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

// What an init asks to learn that it is in a container.
std::vector<std::string> container_variables() {
    std::vector<std::string> variables;
    for (const char* const name : {"container", "container_uuid", "container_ttys"})
        if (const char* const value = std::getenv(name); value != nullptr)
            variables.push_back(std::string(name) + "=" + value);
    return variables;
}

void set_environment(const OciCommand& command, const ImageUser& user) {
    static std::vector<std::string> all;  // putenv() keeps the texts
    all = container_variables();
    all.insert(all.end(), {default_path, "HOME=" + user.home});
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

// Programs open /dev/stdout, that is the console, as the user that they are. Not everything that may be there
// can change its owner.
void give_console_to(const ImageUser& user) {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (struct stat info{}; ::fstat(fd, &info) == 0 && info.st_rdev != null_device)
            if (::fchown(fd, user.uid, user.gid) != 0 && errno != EPERM && errno != EINVAL && errno != EROFS)
                throw system_error("cannot give the console to user " + std::to_string(user.uid), errno);
}

void become_user(const ImageUser& user) {
    if (user.uid == 0 && user.gid == 0) return;
    give_console_to(user);
    const std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setgid(user.gid) != 0 || ::setuid(user.uid) != 0)
        throw system_error("cannot become user " + std::to_string(user.uid), errno);
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

int run_image_command(const std::vector<std::string>& words) {
    const BlockedSignals signals;
    if (words.size() != 1) throw Error(ErrorCode::invalid_argument, "usage: svc-agent init FILE");
    const OciCommand command = with_context(words[0], [&] { return OciCommand::parse(read_file(words[0])); });
    const ImageUser user =
        find_image_user(command.user, read_if_there("/etc/passwd"), read_if_there("/etc/group"));
    const int stop_signal = command.stop_signal.empty() ? SIGTERM : signal_named(command.stop_signal);
    const auto become = [&] {
        set_environment(command, user);
        enter_directory(command.directory);
        become_user(user);
        signals.restore();
        execute(command.arguments);
    };
    if (command.init() == nullptr) return run_below_init(become, stop_signal);
    become();
    return 0;  // not reached
}

}  // namespace svc::agent
