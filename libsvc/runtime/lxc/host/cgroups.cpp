#include "libsvc/runtime/lxc/host/cgroups.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

namespace {

constexpr std::array<std::string_view, 3> needed = {"cpu", "memory", "pids"};
constexpr std::chrono::milliseconds kill_limit{10'000};
constexpr std::size_t most_members = 64U << 20;  // bytes of a list of members

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> result;
    for (std::string& word : split(trim(text), ' '))
        if (!word.empty()) result.push_back(std::move(word));
    return result;
}

void add_v1(CgroupLayout& layout, const std::string& mount, const std::string& options) {
    layout.hierarchies.emplace_back(mount);
    for (const std::string& option : split(options, ','))
        if (option != "rw" && option != "ro" && !option.starts_with("name=")) layout.v1[option] = mount;
}

// A guest may nest its groups so deeply that their paths are too long, or a recursion would be.
constexpr std::size_t long_path = 2000;  // with a name behind it, it is still below PATH_MAX

struct Level {
    std::filesystem::path path;
    FileDescriptor folder;  // where the path is long: stands for it in the paths of the groups below
    std::vector<std::filesystem::path> below;
};

// Nothing for a group that is gone.
std::optional<Level> look_into(const std::filesystem::path& group) {
    Level level{group, {}, {}};
    std::filesystem::path name = group;
    if (group.native().size() > long_path) {
        level.folder = FileDescriptor(::open(group.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!level.folder && errno == ENOENT) return std::nullopt;
        if (!level.folder) throw system_error("cannot look into a control group", errno);
        name = "/proc/self/fd/" + std::to_string(level.folder.get());
    }
    std::error_code failure;
    const std::filesystem::directory_iterator entries(name, failure);
    if (failure == std::errc::no_such_file_or_directory) return std::nullopt;
    if (failure) throw system_error("cannot look into a control group", failure.value());
    std::error_code gone;
    for (const auto& entry : entries)
        if (entry.is_directory(gone) && !entry.is_symlink(gone)) level.below.push_back(entry.path());
    return level;
}

// Whether the group is threaded. A guest may make its groups so; then the domain above lists their processes,
// and reading the list of the group fails. A threaded group never becomes a domain again, so asking after the
// failure is safe.
bool is_threaded(const std::filesystem::path& group) {
    std::string type;
    std::ifstream(group / "cgroup.type") >> type;
    return type == "threaded";
}

std::vector<pid_t> members(const std::filesystem::path& group) {
    std::vector<pid_t> processes;
    std::string text;
    try {
        text = read_file(group / "cgroup.procs", most_members);
    } catch (const Error& e) {
        const bool gone = e.code() == ErrorCode::not_found || !std::filesystem::exists(group);
        if (!gone && !is_threaded(group)) throw;
        return processes;
    }
    for (const std::string& line : split(text, '\n')) {
        pid_t pid = 0;
        std::from_chars(line.data(), line.data() + line.size(), pid);
        if (pid > 1) processes.push_back(pid);
    }
    return processes;
}

// Waits until the members of a group have ended, as a group with members cannot be removed. Opens one member
// at a time: a guest may have more processes than this process may have open files.
void kill_members(const std::filesystem::path& group) {
    const auto deadline = deadline_after(kill_limit);
    for (auto left = members(group); !left.empty(); left = members(group)) {
        for (const pid_t process : left) send_signal(open_pid(process).get(), SIGKILL);
        const FileDescriptor first = open_pid(left.front());
        if (!wait_for_end(first.get(), kill_limit) || std::chrono::steady_clock::now() > deadline) return;
    }
}

}  // namespace

std::string_view CgroupLayout::kind() const {
    if (!v1.empty()) return v2.empty() ? "v1" : "hybrid";
    return v2.empty() ? "none" : "v2";
}

CgroupLayout parse_cgroup_layout(std::string_view mountinfo, std::string_view v2_controllers) {
    CgroupLayout layout;
    for (const std::string& line : split(mountinfo, '\n')) {
        const std::size_t separator = line.find(" - ");
        if (separator == std::string::npos) continue;
        const std::vector<std::string> mount = words(std::string_view(line).substr(0, separator));
        const std::vector<std::string> source = words(std::string_view(line).substr(separator + 3));
        if (mount.size() < 5 || source.size() < 3) continue;
        if (source[0] == "cgroup") add_v1(layout, mount[4], source[2]);
        if (source[0] == "cgroup2" && layout.v2.empty()) {
            layout.v2 = mount[4];
            layout.hierarchies.emplace_back(mount[4]);
        }
    }
    for (std::string& name : words(v2_controllers)) layout.v2_controllers.insert(std::move(name));
    return layout;
}

CgroupLayout detect_cgroup_layout() {
    const std::string mountinfo = read_file("/proc/self/mountinfo");
    CgroupLayout mounts = parse_cgroup_layout(mountinfo, "");
    if (mounts.v2.empty()) return mounts;
    return parse_cgroup_layout(mountinfo, read_file(mounts.v2 / "cgroup.controllers"));
}

bool can_pin(const CgroupLayout& layout) {
    return layout.v1.contains("cpuset") || layout.limits_in_v2("cpuset");
}

std::vector<unsigned> parse_cores(std::string_view text) {
    std::vector<unsigned> cores;
    for (const std::string& part : split(trim(text), ',')) {
        unsigned first = 0;
        const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), first);
        unsigned last = first;
        const std::size_t dash = part.find('-');
        if (dash != std::string::npos)
            std::from_chars(part.data() + dash + 1, part.data() + part.size(), last);
        if (problem != std::errc{} || last > 65535) return {};
        for (unsigned core = first; core <= last; ++core) cores.push_back(core);
    }
    return cores;
}

std::vector<std::string> missing_controllers(const CgroupLayout& layout) {
    std::vector<std::string> missing;
    for (const std::string_view name : needed)
        if (!layout.v1.contains(name) && !layout.limits_in_v2(name)) missing.emplace_back(name);
    return missing;
}

std::filesystem::path oom_counter(const CgroupLayout& layout, std::string_view group) {
    if (const auto v1 = layout.v1.find("memory"); v1 != layout.v1.end())
        return v1->second / group / "memory.oom_control";
    if (layout.v2_controllers.contains("memory")) return layout.v2 / group / "memory.events";
    return {};
}

std::uint64_t parse_oom_kills(std::string_view text) {
    for (const std::string& line : split(text, '\n')) {
        const std::vector<std::string> parts = words(line);
        std::uint64_t count = 0;
        if (parts.size() != 2 || parts[0] != "oom_kill") continue;
        std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), count);
        return count;
    }
    return 0;
}

void for_each_group(const std::filesystem::path& top,
                    const std::function<void(const std::filesystem::path&)>& visit) {
    std::vector<Level> levels;
    const auto enter = [&](const std::filesystem::path& group) {
        if (auto level = look_into(group)) levels.push_back(std::move(*level));
    };
    enter(top);
    while (!levels.empty()) {
        Level& last = levels.back();
        if (last.below.empty()) {
            visit(last.path);
            levels.pop_back();
            continue;
        }
        const std::filesystem::path next = std::move(last.below.back());
        last.below.pop_back();
        enter(next);
    }
}

bool is_alone(const CgroupLayout& layout, std::string_view group, pid_t process) {
    std::set<pid_t> found;
    for (const std::filesystem::path& hierarchy : layout.hierarchies)
        for_each_group(hierarchy / group, [&](const std::filesystem::path& path) {
            for (const pid_t member : members(path)) found.insert(member);
        });
    return found == std::set<pid_t>{process};
}

void kill_group(const CgroupLayout& layout, std::string_view group) {
    for (const std::filesystem::path& hierarchy : layout.hierarchies)
        for_each_group(hierarchy / group, kill_members);
}

void remove_group(const CgroupLayout& layout, std::string_view group) {
    for (const std::filesystem::path& hierarchy : layout.hierarchies)
        for_each_group(hierarchy / group, [](const std::filesystem::path& path) { ::rmdir(path.c_str()); });
}

}  // namespace svc::lxc
