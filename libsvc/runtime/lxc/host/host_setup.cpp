#include "libsvc/runtime/lxc/host/host_setup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "libsvc/base/unfinished_files.h"
#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "libsvc/runtime/lxc/container/seccomp.h"
#include "libsvc/runtime/lxc/disk/overlay.h"
#include "libsvc/runtime/lxc/helper/protocol.h"
#include "libsvc/runtime/lxc/host/kernel_setting.h"
#include "libsvc/runtime/lxc/host/launcher_choice.h"
#include "libsvc/runtime/lxc/network/addresses.h"

namespace svc::lxc {

namespace {

// Owners of images that systemd gives to no process.
constexpr std::uint64_t foreign_first = 0x7FFE0000;
constexpr std::uint64_t foreign_last = 0x7FFEFFFF;
constexpr const char* common_config = "/usr/share/lxc/config/common.conf";
constexpr const char* user_namespace_config = "/usr/share/lxc/config/userns.conf";

void check_path(std::string_view what, const std::filesystem::path& path, std::string_view allowed) {
    const bool clean = std::all_of(path.native().begin(), path.native().end(), [&](unsigned char c) {
        return std::isalnum(c) != 0 || allowed.find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (!path.is_absolute() || !clean)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{} {} must be an absolute path of letters, digits and {}", what,
                                quoted(path.native()), allowed));
}

// Roots of containers are other users on the host: they need search permission, not read permission. The
// folder of each container lets its own root pass and nobody else (Host::open_folder_to_own_root).
void make_passable(const std::filesystem::path& path) {
    make_directories(path, 0711);
    if (::chmod(path.c_str(), 0711) != 0) throw system_error("cannot set the mode of a folder", errno);
}

void make_private(const std::filesystem::path& path) {
    make_directories(path, 0700);
    if (::chmod(path.c_str(), 0700) != 0) throw system_error("cannot set the mode of a folder", errno);
}

// The root of a container passes these folders when it mounts what is in them.
void check_passable(std::string_view what, const std::filesystem::path& path) {
    for (std::filesystem::path folder = path.parent_path(); folder != "/"; folder = folder.parent_path()) {
        struct stat info {};
        if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) != 0) continue;
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("{}: folder {} does not let others pass; mode 0711 is enough", what,
                                quoted(folder.native())));
    }
}

// Copies the program to where containers can reach it. Running containers keep the file they have mounted.
void install_agent(const std::filesystem::path& agent, const std::filesystem::path& target) {
    struct stat theirs {
    }, ours{};
    if (::stat(agent.c_str(), &theirs) != 0) throw system_error("cannot look at the agent", errno);
    if (::stat(target.c_str(), &ours) == 0 && ours.st_size == theirs.st_size &&
        ours.st_mtim.tv_sec == theirs.st_mtim.tv_sec && ours.st_mtim.tv_nsec == theirs.st_mtim.tv_nsec)
        return;
    const std::filesystem::path temporary = target.native() + ".new";
    std::filesystem::copy_file(agent, temporary, std::filesystem::copy_options::overwrite_existing);
    failpoint("host.agent_copied");
    const std::array<timespec, 2> times = {theirs.st_mtim, theirs.st_mtim};
    if (::chmod(temporary.c_str(), 0755) != 0 ||
        ::utimensat(AT_FDCWD, temporary.c_str(), times.data(), 0) != 0 ||
        ::rename(temporary.c_str(), target.c_str()) != 0)
        throw system_error("cannot copy the agent", errno);
}

// Folders that an earlier version has left open: a container in them has the common range.
void close_containers(const ConfigContext& context) {
    for (const auto& entry : std::filesystem::directory_iterator(context.layout.containers())) {
        struct stat info {};
        const char* const path = entry.path().c_str();
        if (::lstat(path, &info) != 0 || !S_ISDIR(info.st_mode) || (info.st_mode & S_IRWXO) == 0) continue;
        if (::chown(path, 0, context.id_base) != 0 || ::chmod(path, 0710) != 0)
            throw system_error("cannot close a container's folder", errno);
    }
}

// A container takes five pseudo terminals: its console and tty1 to tty4. The kernel counts those of all
// containers together, and its default suffices for 614 of them. Like forwarding, the setting is left on.
void allow_terminals() {
    constexpr unsigned enough = 16384;
    const std::filesystem::path file = "/proc/sys/kernel/pty/max";
    unsigned present = enough;
    std::ifstream(file) >> present;
    if (present < enough)
        set_kernel_setting("kernel.pty.max", std::to_string(enough), "terminals of more containers");
}

std::uint32_t settle_id_base(const LxcOptions& options, const Layout& layout) {
    const auto stored = read_if_there(layout.id_base());
    std::uint32_t base = 0;
    if (stored) std::from_chars(stored->data(), stored->data() + stored->size(), base);
    if (stored && base == 0)
        throw Error(ErrorCode::internal,
                    "id_base is damaged: it holds the first id of the owners of all layers and containers");
    if (base != 0 && options.id_base != 0 && base != options.id_base)
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("id base {} differs from the {} that stored layers have", options.id_base, base));
    if (base != 0) return base;
    base = options.id_base != 0
               ? options.id_base
               : choose_id_base(read_or_empty("/etc/subuid"), read_or_empty("/etc/subgid"), options.id_count);
    write_file_atomically(layout.id_base(), std::to_string(base) + "\n");
    return base;
}

// Found out by trying: it depends on the kernel and on the file system.
std::string why_ids_are_shared(const LxcOptions& options, const ConfigContext& context) {
    if (options.ranges == 0) return "no ranges are configured";
    remove_probes(options.state_dir);
    std::string failure =
        id_mapping_failure(options.state_dir, {context.id_base, options.first_range, options.id_count});
    if (!failure.empty()) log::warning("all containers share one range of user ids", {{"reason", failure}});
    return failure;
}

// Ranges of the region that are large enough for Android.
std::vector<IdRange> large_ranges(const IdRegion& region) {
    std::vector<IdRange> ranges;
    const std::uint64_t end =
        std::min<std::uint64_t>(region.first + std::uint64_t{region.ranges} * region.count, UINT32_MAX);
    const std::uint64_t begin = (region.first + 65535ULL) / 65536 * 65536;
    for (std::uint64_t first = begin; first + android_ids <= end; first += android_ids) {
        const IdRange range{static_cast<std::uint32_t>(first), android_ids};
        if (!overlaps(range, region.reserved)) ranges.push_back(range);
    }
    return ranges;
}

ReservedIds ids_of_others_here(const ConfigContext& context) {
    auto reserved = ids_of_others({read_or_empty("/etc/passwd"), read_or_empty("/etc/group")},
                                  {read_or_empty("/etc/subuid"), read_or_empty("/etc/subgid")});
    reserved.emplace_back(foreign_first, foreign_last);
    reserved.emplace_back(context.id_base, std::uint64_t{context.id_base} + context.id_count - 1);
    return reserved;
}

// By a container of any daemon of the machine, as IdRanges has it.
bool is_taken(const LxcOptions& options, IdRange range) {
    std::error_code absent;
    const auto link = options.range_registry / std::to_string(range.first / 65536);
    return std::filesystem::exists(std::filesystem::read_symlink(link, absent), absent);
}

// Empty: the devices are those of the range from now on, until the module is loaded anew.
std::string claim_failure(const LxcOptions& options, const BinderSet& set, IdRange range) {
    std::vector<std::string> command{starting_helper(options).native(), "claim",
                                     std::to_string(binder_user(range))};
    for (const std::string& device : set) command.push_back((options.devices / device).native());
    const CommandResult claimed = run_command(command, std::chrono::seconds(5));
    // The guest that has the set has claimed it, or was given it when that was done.
    const bool in_use = claimed.status.code == device_in_use && is_taken(options, range);
    if (claimed.status.code == 0 || in_use) return "";
    const std::string reason(trim(claimed.errors));
    return reason.empty() ? fmt::format("{} claim ended with {}", command.front(), claimed.status.code)
                          : reason;
}

void take_sets(const LxcOptions& options, const ConfigContext& context, BinderSupport& binder) {
    const auto others = ids_of_others_here(context);
    for (std::size_t n = 0; n < binder.sets.size(); ++n) {
        const IdRange range = range_of_set(n);
        const std::string failure = overlaps(range, others) ? "its user ids belong to somebody else"
                                                            : claim_failure(options, binder.sets[n], range);
        if (failure.empty())
            binder.ranges.push_back(range);
        else
            binder.left_out.push_back(fmt::format("{} is left out: {}", binder.sets[n][0], failure));
    }
    if (binder.ranges.empty()) binder.fault = "no set of binder devices can be used";
}

void settle_android(const LxcOptions& options, ConfigContext& context) {
    BinderSupport& binder = context.binder;
    binder = find_binder(read_or_empty("/proc/filesystems"),
                         read_or_empty(options.sysfs / "module/binder_linux/parameters/devices"));
    if (!binder.usable()) return;
    if (!context.shared_ids.empty())
        binder.fault = "all containers share one range of user ids: " + context.shared_ids;
    else if (options.agent.empty())
        binder.fault = "there is no svc-agent";
    else if (binder.file_system)
        binder.ranges = large_ranges(id_region(options, context));
    else
        take_sets(options, context, binder);
}

}  // namespace

const std::filesystem::path& starting_helper(const LxcOptions& options) {
    return options.launcher == LauncherKind::own ? options.launch_helper : options.helper;
}

LxcOptions checked(LxcOptions options) {
    // ':' and ',' separate parts of the overlay's mount options.
    check_path("state directory", options.state_dir, "/._-+@=~");
    options.launcher = choose_launcher(options.launcher, launch_conditions(options));
    const std::filesystem::path& helper = starting_helper(options);
    check_path("helper", helper, "/._-+@=~, :");
    if (!options.agent.empty()) check_path("agent", options.agent, "/._-+@=~, :");
    if (!options.agent_socket_dir.empty())
        check_path("agent socket folder", options.agent_socket_dir, "/._-+@=~, :");
    if (::access(helper.c_str(), X_OK) != 0)
        throw Error(ErrorCode::not_found,
                    fmt::format("program {} not found", quoted(helper.filename().native())));
    if (!options.agent.empty() && ::access(options.agent.c_str(), X_OK) != 0)
        throw Error(ErrorCode::not_found,
                    fmt::format("program {} not found", quoted(options.agent.filename().native())));
    if (options.id_count < 65536) throw Error(ErrorCode::invalid_argument, "id count must be 65536 or more");
    if (options.ranges > 0 && options.first_range < 65536)
        throw Error(ErrorCode::invalid_argument, "first range must be 65536 or more");
    return options;
}

ConfigContext make_context(const LxcOptions& options) {
    ConfigContext context;
    context.layout = {options.state_dir};
    make_passable(options.state_dir);
    remove_unfinished_files(options.state_dir);
    check_passable("state directory", options.state_dir);
    if (!options.agent_socket_dir.empty())
        check_passable("agent socket folder", options.agent_socket_dir / "server.unix");
    make_passable(context.layout.containers());
    make_private(context.layout.layers());
    write_file_atomically(context.layout.seccomp(), seccomp_profile);
    context.cgroups = detect_cgroup_layout();
    context.cgroup_prefix = "svc-" + options.bridge;
    context.bridge = options.bridge;
    context.bridge_mtu = options.bridge_mtu;
    const Subnet subnet = parse_subnet(options.subnet);
    context.gateway = ipv4_text(subnet.address);
    context.prefix_length = subnet.prefix;
    context.id_base = settle_id_base(options, context.layout);
    context.id_count = options.id_count;
    close_containers(context);
    allow_terminals();
    if (!options.agent.empty()) {
        context.agent = context.layout.agent_program();
        install_agent(options.agent, context.agent);
    }
    context.agent_socket_dir = options.agent_socket_dir;
    context.shared_ids = why_ids_are_shared(options, context);
    context.default_processes = options.processes;
    context.swap_rate = options.swap_rate;
    context.io = options.io;
    context.limit_support = detect_limit_support(context.cgroups, options.state_dir);
    context.apparmor = apparmor_is_usable();
    context.launcher = options.launcher.value_or(LauncherKind::liblxc);
    settle_android(options, context);
    if (::access(common_config, R_OK) == 0 && ::access(user_namespace_config, R_OK) == 0) {
        context.common_config = common_config;
        context.user_namespace_config = user_namespace_config;
    }
    return context;
}

IdRegion id_region(const LxcOptions& options, const ConfigContext& context) {
    IdRegion region;
    region.first = options.first_range;
    region.ranges = context.shared_ids.empty() ? options.ranges : 0;
    region.count = context.id_count;
    region.shared = context.id_base;
    region.reserved = ids_of_others_here(context);
    region.reserved.emplace_back(first_binder_range,
                                 std::uint64_t{first_binder_range} + most_binder_sets * android_ids - 1);
    return region;
}

Json machine_details(const LxcOptions& options, const ConfigContext& context) {
    utsname system{};
    ::uname(&system);
    const CommandResult version =
        run_command({starting_helper(options).native(), "version"}, std::chrono::seconds(5));
    Json missing = Json::array();
    for (const std::string& controller : missing_controllers(context.cgroups)) missing.push_back(controller);
    return Json::object(
        {{"kernel", static_cast<const char*>(system.release)},
         {"lxc", std::string(trim(version.output))},
         {"cgroup", context.cgroups.kind()},
         {"missing_controllers", std::move(missing)},
         {"swap_limit", context.limit_support.swap},
         {"io_limit", context.limit_support.io_unsupported.empty() ? context.limit_support.device
                                                                   : context.limit_support.io_unsupported},
         {"apparmor", context.apparmor},
         {"seccomp", true},
         {"binder", context.binder.usable()},
         {"android", context.binder.text()},
         {"id_base", context.id_base},
         {"id_count", context.id_count},
         {"id_ranges", context.shared_ids.empty() ? "own" : context.shared_ids}});
}

std::uint64_t total_memory(std::string_view meminfo) {
    const std::size_t line = meminfo.find("MemTotal:");
    if (line == std::string_view::npos) return 0;
    std::uint64_t kibibytes = 0;
    const std::string_view rest = trim(meminfo.substr(line + 9, 64));
    std::from_chars(rest.data(), rest.data() + rest.size(), kibibytes);
    return kibibytes * 1024;
}

}  // namespace svc::lxc
