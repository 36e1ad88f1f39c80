#include "instance-agent/agent/application/guest_activities.h"

#include <algorithm>
#include <array>

#include "instance-agent/agent/files/guest_programs.h"
#include "libsvc/base/error.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::chrono::seconds answer_limit{20};
// The names that versions of Android have for it, the newest first.
constexpr std::array<std::string_view, 3> resumed{"topResumedActivity", "ResumedActivity",
                                                  "mFocusedActivity"};

std::string last_line(const std::string& text) {
    const std::vector<std::string> lines = split(trim(text), '\n');
    return lines.empty() ? "" : std::string(trim(lines.back()));
}

std::string component(const std::string& package, const std::string& activity) {
    return activity.find('/') == std::string::npos ? package + "/" + activity : activity;
}

// "com.x" of "...ActivityRecord{1f u0 com.x/.Main t7}".
std::string package_in(std::string_view line) {
    const std::size_t slash = line.find('/');
    if (line.find("ActivityRecord{") == std::string_view::npos || slash == std::string_view::npos) return "";
    const std::size_t blank = line.rfind(' ', slash);
    return blank == std::string_view::npos ? "" : std::string(line.substr(blank + 1, slash - blank - 1));
}

// "com.x" of "*APP* UID 10057 ProcessRecord{af 1234:com.x/u0a57}".
std::string process_in(std::string_view line) {
    const std::size_t record = line.find("ProcessRecord{");
    if (record == std::string_view::npos || !trim(line).starts_with('*')) return "";  // a mere mention
    const std::size_t colon = line.find(':', record);
    const std::size_t slash = line.find('/', record);
    if (colon == std::string_view::npos || slash == std::string_view::npos || slash < colon) return "";
    return std::string(line.substr(colon + 1, slash - colon - 1));
}

}  // namespace

bool GuestActivities::available() const {
    return !find_program(paths_, "am").empty();
}

std::optional<GuestActivities::Answer> GuestActivities::ask(const char* program,
                                                            const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{find_program(paths_, program)};
    if (command.front().empty()) return std::nullopt;
    command.insert(command.end(), arguments.begin(), arguments.end());
    const CommandResult result = run_command(command, answer_limit);
    return Answer{result.status.code, result.output + result.errors};
}

// am exits with 0, or not, depending on its version; what it says last is "Error: ..." then.
void GuestActivities::start(const std::string& package, const std::string& activity) const {
    const std::string target = activity.empty() ? launcher_of(package) : component(package, activity);
    const auto answer = ask("am", {"start", "-W", "-n", target});
    const std::string last = answer ? last_line(answer->output) : "there is no activity manager";
    if (!answer || answer->code != 0 || last.starts_with("Error"))
        throw Error(ErrorCode::internal, "cannot start " + target + ": " + last);
}

std::string GuestActivities::launcher_of(const std::string& package) const {
    const auto answer = ask(
        "cmd", {"package", "resolve-activity", "--brief", "-c", "android.intent.category.LAUNCHER", package});
    const std::string found = answer ? last_line(answer->output) : "";
    if (!found.starts_with(package + "/"))
        throw Error(ErrorCode::internal, "cannot start " + package + ": it has no activity to start");
    return found;
}

bool GuestActivities::is_installed(const std::string& package) const {
    const auto answer = ask("pm", {"path", package});
    return !answer || (answer->code == 0 && answer->output.starts_with("package:"));
}

bool GuestActivities::has_process(const std::string& package) const {
    const auto answer = ask("pidof", {package});
    return !answer || answer->code == 0;
}

bool GuestActivities::is_hanging(const std::string& package) const {
    const auto answer = ask("dumpsys", {"activity", "processes"});
    return answer && is_not_responding(answer->output, package);
}

std::string GuestActivities::foreground() const {
    const auto answer = ask("dumpsys", {"activity", "activities"});
    return answer ? foreground_package(answer->output) : "";
}

std::string foreground_package(std::string_view activities) {
    const std::vector<std::string> lines = split(activities, '\n');
    for (const std::string_view name : resumed)
        for (const std::string& line : lines)
            if (line.find(name) != std::string::npos)
                if (std::string package = package_in(line); !package.empty()) return package;
    return "";
}

bool is_not_responding(std::string_view processes, std::string_view package) {
    std::string current;
    for (const std::string& line : split(processes, '\n')) {
        if (std::string process = process_in(line); !process.empty()) current = std::move(process);
        if (current == package && line.find("otResponding=true") != std::string::npos) return true;
    }
    return false;
}

}  // namespace svc::agent
