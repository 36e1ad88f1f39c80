#include "libsvc/runtime/lxc/host/host.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "libsvc/runtime/lxc/container/device_nodes.h"
#include "libsvc/runtime/lxc/container/gpu_edits.h"
#include "libsvc/runtime/lxc/container/rootfs.h"
#include "libsvc/runtime/lxc/disk/capture.h"
#include "libsvc/runtime/lxc/disk/copy.h"
#include "libsvc/runtime/lxc/disk/overlay.h"
#include "libsvc/runtime/lxc/host/apparmor.h"
#include "libsvc/runtime/lxc/host/freezer.h"
#include "libsvc/runtime/lxc/host/host_setup.h"
#include "libsvc/runtime/lxc/network/links.h"
#include "libsvc/runtime/lxc/processes/processes.h"
#include "libsvc/runtime/lxc/usage/cgroup_usage.h"
#include "libsvc/runtime/lxc/usage/link_usage.h"

namespace svc::lxc {

namespace {

constexpr std::size_t most_unmounts = 64;  // each holds a descriptor
constexpr std::chrono::milliseconds monitor_kill_limit{10'000};
constexpr std::chrono::milliseconds freeze_limit{10'000};
constexpr int most_bridge_ports = 1023;  // of a bridge of the kernel: BR_MAX_PORTS without port 0

void make_folder(const std::filesystem::path& path, unsigned mode, std::uint32_t owner) {
    if (::mkdir(path.c_str(), mode) != 0) throw system_error("cannot make a container's folder", errno);
    if (::chmod(path.c_str(), mode) != 0 || ::chown(path.c_str(), owner, owner) != 0)
        throw system_error("cannot hand over a container's folder", errno);
}

void check_id(const std::string& id) {
    const bool clean =
        id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
        std::string::npos;
    if (id.empty() || id.size() > 64 || !clean)
        throw Error(ErrorCode::invalid_argument, "container id " + quoted(id) + " is not usable");
}

NetworkOptions network_options(const LxcOptions& options) {
    return {options.bridge,         options.subnet,      options.bridge_mtu, options.address,
            options.public_address, options.guest_ports, options.isolate,    options.bandwidth,
            options.connections,    options.cluster};
}

}  // namespace

Host::Host(LxcOptions options)
    : options_(checked(std::move(options))),
      context_(make_context(options_)),
      records_(context_.layout),
      network_(network_options(options_)),
      layers_(context_.layout, context_.id_base, context_.id_count, options_.layer_limits),
      quota_(options_.state_dir, options_.bytes_per_file),
      ranges_(options_.range_registry, context_.layout.containers(), id_region(options_, context_)),
      pins_(usable_cores()),
      unmounts_("lxc-unmounts", 1, most_unmounts) {
    // Last: a daemon that is refused, for its bridge or subnet, leaves no profile.
    if (context_.apparmor && context_.launcher == LauncherKind::own) load_guest_profile(context_);
}

void Host::make(StoredSpec& stored) {
    const ContainerSpec& spec = stored.spec;
    const Layout& at = layout();
    check_id(spec.id);
    if (!network_.subnet().contains(parse_ipv4(spec.address).value_or(0)))
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("address {} is not in subnet '{}'", quoted(spec.address),
                                network_.subnet().network_text()));
    if (is_there(at.spec(spec.id)))
        throw Error(ErrorCode::conflict, fmt::format("container '{}' is on disk already", spec.id));
    Rollback undo;
    undo.add("container files", [&] { remove_files(stored); });
    clean_up(spec.id);
    remove_tree(at.container(spec.id));
    make_folder(at.container(spec.id), 0700, 0);
    failpoint("host.folder_made");
    make_folder(at.rootfs(spec.id), 0711, 0);
    make_upper(stored);
    failpoint("host.disk_made");
    place_files(stored);
    failpoint("host.files_placed");
    lxc_config(spec, context_, id_base(),
               halt_signals(""));  // throws here for what could not be configured at the start
    write_file_atomically(at.spec(spec.id), to_json(stored).dump());
    undo.dismiss();
}

// `work` is made anew with `upper`: the kernel keeps state of the writable folder in it.
void Host::make_work(const StoredSpec& stored) {
    const std::filesystem::path work = layout().work(stored.spec.id);
    remove_tree(work);
    failpoint("host.work_removed");
    make_folder(work, 0700, 0);
    if (stored.project != 0) quota_.limit(stored.project, {work}, stored.spec.disk_bytes);
}

void Host::make_upper(const StoredSpec& stored) {
    const std::filesystem::path upper = layout().upper(stored.spec.id);
    make_work(stored);
    make_folder(upper, 0755, id_base());
    failpoint("host.upper_made");
    if (stored.project != 0) quota_.limit(stored.project, {upper}, stored.spec.disk_bytes);
}

// Completes the disk after a capture that was interrupted, or that could not make the empty `upper`.
void Host::complete_disk(const StoredSpec& stored) {
    const std::string& id = stored.spec.id;
    Capture(layout(), id).put_back();
    remove_tree(layout().restored(id));  // of a restore that was interrupted
    if (!std::filesystem::exists(layout().upper(id))) make_upper(stored);
    if (!std::filesystem::exists(layout().work(id))) make_work(stored);
}

void Host::make_again(StoredSpec& stored) {
    const ContainerSpec& spec = stored.spec;
    complete_disk(stored);
    if (stored.project != 0)
        quota_.limit(stored.project, {layout().upper(spec.id), layout().work(spec.id)}, spec.disk_bytes);
    place_files(stored);
    lxc_config(spec, context_, id_base(),
               halt_signals(""));  // throws here for what could not be configured at the start
    write_file_atomically(layout().spec(spec.id), to_json(stored).dump());
}

void Host::mount(const ContainerSpec& spec) {
    Overlay overlay;
    for (const std::string& layer : spec.layers) overlay.layers.push_back(layout().layer_rootfs(layer));
    overlay.upper = layout().upper(spec.id);
    overlay.work = layout().work(spec.id);
    overlay.target = layout().rootfs(spec.id);
    const std::uint32_t root = take_ids(spec);
    if (root != id_base()) overlay.id_mapping = {id_base(), root, context_.id_count};
    open_folder_to_own_root(spec.id);
    unmount_later(mount_overlay(overlay));
}

std::uint32_t Host::take_ids(const ContainerSpec& spec) {
    if (!spec.android) return ranges_.take(spec.id);
    if (!context_.binder.usable())
        throw Error(ErrorCode::unsupported, "this machine runs no Android guests: " + context_.binder.fault);
    return with_context(context_.binder.file_system ? "ranges of user ids for Android guests"
                                                    : "sets of binder devices for Android guests",
                        [&] { return ranges_.take_of(context_.binder.ranges, spec.id); });
}

std::vector<DeviceNode> Host::device_nodes(const ContainerSpec& spec) const {
    std::vector<DeviceNode> nodes = gpu_nodes(spec.gpus, options_.devices);
    if (!spec.android || context_.binder.file_system) return nodes;
    for (DeviceNode& node : binder_nodes(context_.binder.set_of(root_of(spec.id)), options_.devices))
        nodes.push_back(std::move(node));
    return nodes;
}

// The container's root passes its own folder on the way to its root file system; no other user of the host
// does, the roots of other containers neither.
void Host::open_folder_to_own_root(const std::string& id) const {
    const std::filesystem::path folder = layout().container(id);
    if (::chown(folder.c_str(), 0, root_of(id)) != 0 || ::chmod(folder.c_str(), 0710) != 0)
        throw system_error("cannot close a container's folder", errno);
}

// The next container with this range must not pass the folder.
void Host::give_range_back(const std::string& id) {
    const std::filesystem::path folder = layout().container(id);
    if ((::chmod(folder.c_str(), 0700) != 0 || ::chown(folder.c_str(), 0, 0) != 0) && errno != ENOENT)
        throw system_error("cannot close a container's folder", errno);
    ranges_.release(id);
}

void Host::keep_range(const std::string& id, pid_t init) {
    const auto ids = parse_mapped_root(read_or_empty(fmt::format("/proc/{}/uid_map", init)));
    if (ids && ranges_.keep(id, *ids)) open_folder_to_own_root(id);
}

void Host::place_files(StoredSpec& stored) {
    const ContainerSpec& spec = stored.spec;
    mount(spec);
    const auto place = [&](const PlacedFile& file) {
        std::string path = place_file(layout().rootfs(spec.id), file, root_of(spec.id));
        if (std::find(stored.placed.begin(), stored.placed.end(), path) == stored.placed.end())
            stored.placed.push_back(std::move(path));
    };
    place({"/etc/hostname", spec.name + "\n", 0644});
    for (const PlacedFile& file : spec.files) place(file);
}

// Files that the runtime puts into a container's disk are no changes of the guest and are left out.
std::vector<std::string> Host::own_paths(const StoredSpec& stored, std::vector<std::string> leave_out) const {
    leave_out.insert(leave_out.end(), stored.placed.begin(), stored.placed.end());
    for (const std::string_view path : {agent_path, socket_dir_path})
        leave_out.push_back("/" + std::string(path));
    return leave_out;
}

void Host::capture(const StoredSpec& stored, const std::string& name, std::vector<std::string> leave_out) {
    const std::string& id = stored.spec.id;
    clean_up(id);
    const Capture capture(layout(), id);
    if (!layers_.contains(name)) {
        if (!capture.begun()) complete_disk(stored);
        layers_.publish_captured(name, capture.take(own_paths(stored, std::move(leave_out))));
    }
    failpoint("host.captured");
    complete_disk(stored);
    sync_directory(layout().container(id));
}

void Host::snapshot(const StoredSpec& stored, const std::string& name, std::vector<std::string> leave_out,
                    const std::stop_token& stop) {
    if (layers_.contains(name)) return;
    const std::string& id = stored.spec.id;
    clean_up(id);
    complete_disk(stored);
    const TemporaryDirectory temporary = layers_.temporary();
    const std::filesystem::path folder = temporary.path() / "layer";
    make_folder(folder, 0700, 0);
    copy_tree(layout().upper(id), folder / "rootfs", options_.layer_limits.floor, stop);
    finish_layer(folder, own_paths(stored, std::move(leave_out)));
    failpoint("host.snapshot_copied");
    layers_.publish_captured(name, folder);
}

// The copy takes the place of the disk in one step. The kernel keeps state of the old one in `work`.
void Host::restore(const StoredSpec& stored, const std::string& name, const std::stop_token& stop) {
    const std::string& id = stored.spec.id;
    clean_up(id);
    complete_disk(stored);
    const std::filesystem::path upper = layout().upper(id);
    const std::filesystem::path restored = layout().restored(id);
    remove_tree(restored);
    Rollback undo;
    undo.add("the other copy of the files", [&] { remove_tree(restored); });
    make_folder(restored, 0755, id_base());
    // Both count until the old one is gone.
    if (stored.project != 0)
        quota_.limit(stored.project, {restored}, stored.spec.disk_bytes + layers_.size(name));
    copy_tree(layout().layer_rootfs(name) / ".", restored, options_.layer_limits.floor, stop);
    exchange(restored, upper);
    remove_tree(restored);
    failpoint("host.old_disk_removed");
    make_work(stored);
    if (stored.project != 0) quota_.limit(stored.project, {upper}, stored.spec.disk_bytes);
}

HaltSignals Host::halt_signals_of(const ContainerSpec& spec) const {
    return find_halt_signals(layout().rootfs(spec.id), spec);
}

// The monitor of a start whose helper was killed: nobody else knows of it. Its container ends with it.
void Host::kill_monitor(const std::string& id) const {
    const auto monitor = read_process(layout().monitor_file(id));
    const FileDescriptor process = monitor ? open_process(*monitor) : FileDescriptor();
    if (!process) return;
    send_signal(process.get(), SIGKILL);
    if (!wait_for_end(process.get(), monitor_kill_limit))
        throw Error(ErrorCode::busy, fmt::format("the monitor of container '{}' does not end", id));
}

HaltSignals Host::prepare(const StoredSpec& stored) {
    const ContainerSpec& spec = stored.spec;
    kill_monitor(spec.id);
    for (const std::string& group : {cgroup_name(context_, spec.id), monitor_cgroup_name(context_, spec.id)})
        remove_group(context_.cgroups, group);
    remove_link(device_name(context_.bridge, layout(), spec.id));
    failpoint("host.old_run_removed");
    for (const std::filesystem::path& old :
         {layout().exit_file(spec.id), layout().oom_file(spec.id), layout().lxc_log(spec.id),
          layout().agent_file(spec.id), layout().init_file(spec.id), layout().monitor_file(spec.id)})
        ::unlink(old.c_str());
    complete_disk(stored);
    mount(spec);
    make_device_nodes(layout().devices(spec.id), device_nodes(spec), root_of(spec.id));
    const std::string gpu_lines = enter_gpus(spec);
    HaltSignals halt = halt_signals_of(spec);
    replace_file(layout().config(spec.id),
                 lxc_config(spec, context_, root_of(spec.id), halt, choose_cores(spec)) + gpu_lines);
    failpoint("host.prepared");
    return halt;
}

// The machine's files are read at each start, as its GPUs may have others by then.
std::string Host::enter_gpus(const ContainerSpec& spec) const {
    if (spec.gpus.empty()) return {};
    return enter_gpu_edits(layout().devices(spec.id), CdiDevices(options_.cdi).edits(spec.gpus),
                           root_of(spec.id));
}

std::vector<unsigned> Host::choose_cores(const ContainerSpec& spec) {
    if (!spec.pin_cpus || spec.cpus <= 0 || !can_pin(context_.cgroups)) return {};
    return pins_.choose(spec.id, spec.cpus);
}

void Host::remember_cores(const std::string& id) {
    for (const std::string& line : split(read_or_empty(layout().config(id)), '\n'))
        if (line.find(".cpuset.cpus = ") != std::string::npos)
            pins_.remember(id, parse_cores(std::string_view(line).substr(line.find('=') + 1)));
}

void Host::connect(const ContainerSpec& spec) {
    network_.add(spec.id, {device_name(context_.bridge, layout(), spec.id), spec.address, spec.forwards,
                           spec.allowed_endpoints});
}

// The rules drop all IPv6 of the device anyway.
void Host::disable_device_ipv6(const std::string& id) {
    try {
        switch_ipv6_off(device_name(context_.bridge, layout(), id));
    } catch (const Error& e) {
        log::debug("the device of a container has IPv6", {{"container", id}, {"error", e.what()}});
    }
}

// A container of an earlier daemon has the device that its configuration names.
std::optional<ConnectedContainer> Host::connected(const ContainerSpec& spec) const {
    std::string config;
    try {
        config = read_file(layout().config(spec.id));
    } catch (const Error& e) {
        log::warning("network of a container is not known", {{"container", spec.id}, {"error", e.what()}});
        return std::nullopt;
    }
    const auto network = configured_network(config);
    if (!network || !parse_ipv4(network->address)) return std::nullopt;
    return ConnectedContainer{network->device, network->address, spec.forwards, spec.allowed_endpoints};
}

void Host::freeze(const std::string& id) {
    with_context(fmt::format("container '{}' cannot be frozen", id),
                 [&] { freeze_group(context_.cgroups, cgroup_name(context_, id), freeze_limit); });
}

void Host::let_killed_end(const std::string& id, int pidfd) const {
    lxc::let_killed_end(context_.cgroups, cgroup_name(context_, id), pidfd);
}

bool Host::is_frozen(const std::string& id) const {
    return lxc::is_frozen(context_.cgroups, cgroup_name(context_, id));
}

bool Host::is_alone(const std::string& id, pid_t init) const {
    return lxc::is_alone(context_.cgroups, cgroup_name(context_, id), init);
}

void Host::sync_disk(const std::string& id) const {
    const FileDescriptor folder = open_file(layout().upper(id), O_RDONLY | O_DIRECTORY);
    if (::syncfs(folder.get()) != 0) throw system_error("cannot sync the disk of a container", errno);
}

void Host::thaw(const std::string& id) {
    thaw_group(context_.cgroups, cgroup_name(context_, id));
}

void Host::clean_up(const std::string& id) {
    remove_run(id);
    remove_link(device_name(context_.bridge, layout(), id));
    failpoint("host.link_removed");
    unmount_overlay(layout().rootfs(id));
    give_range_back(id);
}

FileDescriptor Host::clean_up_dead(const std::string& id) {
    remove_run(id);
    // So that its address may be given to another container.
    detach_link(context_.bridge, device_name(context_.bridge, layout(), id));
    FileDescriptor mount = detach_overlay(layout().rootfs(id));
    give_range_back(id);
    return mount;
}

void Host::unmount_later(FileDescriptor mount) {
    if (!mount) return;
    const auto shared = std::make_shared<FileDescriptor>(std::move(mount));
    if (!unmounts_.post([shared] { shared->reset(); })) shared->reset();  // the queue is full: unmounts here
}

void Host::remove_run(const std::string& id) {
    network_.remove(id);
    failpoint("host.rules_removed");
    const std::string group = cgroup_name(context_, id);
    const std::string monitor = monitor_cgroup_name(context_, id);
    kill_monitor(id);
    failpoint("host.monitor_killed");
    thaw(id);
    kill_group(context_.cgroups, group);
    kill_group(context_.cgroups, monitor);
    failpoint("host.killed");
    remove_group(context_.cgroups, group);
    remove_group(context_.cgroups, monitor);
    failpoint("host.groups_removed");
    if (context_.apparmor) remove_policy_namespace(policy_namespace_name(context_.bridge, id));
    pins_.release(id);
}

void Host::remove_files(const StoredSpec& stored) {
    const std::string& id = stored.spec.id;
    // First: if the daemon is interrupted after this, the folder is a leftover.
    if (::unlink(layout().spec(id).c_str()) != 0 && errno != ENOENT && errno != EISDIR)
        throw system_error(fmt::format("cannot remove container '{}'", id), errno);
    failpoint("host.spec_removed");
    unmount_overlay(layout().rootfs(id));
    remove_tree(layout().container(id));
    ranges_.release(id);
    ::unlink(layout().lxc_lock(id).c_str());
    failpoint("host.files_removed");
    quota_.release(stored.project);
}

void Host::recreate_spec(const ContainerSpec& spec) const {
    records_.recreate_spec(spec, quota_.project_of(layout().upper(spec.id)));
}

const std::filesystem::path& Host::starting_helper() const {
    return lxc::starting_helper(options_);
}

LauncherKind Host::launcher_of(const std::string& id) const {
    return configured_launcher(read_if_there(layout().config(id)).value_or(""));
}

bool Host::monitor_cleans_up(const std::string& id) const {
    return context_.apparmor && launcher_of(id) == LauncherKind::liblxc;
}

const std::filesystem::path& Host::helper_of(const std::string& id) const {
    const bool own = launcher_of(id) == LauncherKind::own;
    const std::filesystem::path& helper = own ? options_.launch_helper : options_.helper;
    if (!helper.empty()) return helper;
    throw Error(ErrorCode::unavailable, fmt::format("container '{}' was started by {}, which is not there",
                                                    id, own ? "svc-launch" : "svc-lxc"));
}

std::uint32_t Host::choose_project(const ContainerSpec& spec) const {
    if (spec.disk_bytes == 0 || !quota_.enforced()) return 0;
    return quota_.choose_project(layout().container(spec.id).native());
}

ContainerUsage Host::usage(const std::string& id,
                           const std::map<std::string, NetworkUsage, std::less<>>& devices) const {
    ContainerUsage usage;
    usage.id = id;
    read_group_usage(context_.cgroups, cgroup_name(context_, id), usage);
    if (const auto device = devices.find(device_name(context_.bridge, layout(), id)); device != devices.end())
        usage.network.push_back(other_end(device->second, "eth0"));
    return usage;
}

Capacity Host::capacity() const {
    Capacity capacity;
    capacity.runtime = "lxc";
    capacity.cpus = std::max(1U, std::thread::hardware_concurrency());
    capacity.memory_bytes = total_memory(read_file("/proc/meminfo"));
    struct statvfs disk {};
    if (::statvfs(options_.state_dir.c_str(), &disk) == 0)
        capacity.disk_bytes = std::uint64_t{disk.f_blocks} * disk.f_frsize;
    utsname system{};
    ::uname(&system);
    capacity.architecture = static_cast<const char*>(system.machine);
    capacity.address = network_.address();
    capacity.public_address = network_.public_address();
    capacity.forwards_from = network_.forwards_from();
    capacity.bridge = options_.bridge;
    capacity.subnet = options_.subnet;
    capacity.bridge_mtu = options_.bridge_mtu;
    capacity.storage_pool = "svc0";
    capacity.disk_limit_enforced = quota_.enforced();
    capacity.gpus = find_gpus(options_.sysfs);
    capacity.android_fault = context_.binder.fault;
    std::call_once(details_once_, [&] {
        details_ = machine_details(options_, context_);
        details_.set("bridge_ports", most_bridge_ports);
        details_.set("disk_quota", quota_.enforced() ? "project" : quota_.reason());
    });
    capacity.details = details_;
    capacity.details.set("cdi", described_cdi(capacity.gpus));
    return capacity;
}

Json Host::described_cdi(const std::vector<MachineGpu>& gpus) const {
    std::vector<std::string> names;
    for (const MachineGpu& gpu : gpus) names.push_back(gpu.render_name);
    return CdiDevices(options_.cdi).described(names);
}

void Host::tear_down() {
    network_.tear_down();
    remove_group(context_.cgroups, context_.cgroup_prefix);
    if (context_.apparmor) unload_profile(guest_profile_name(context_.bridge));
    // liblxc keeps its locks under a copy of the path; folders that others use as well are not empty and
    // stay.
    std::filesystem::path folder = layout().lxc_lock("").parent_path();
    while (folder != "/run/lxc/lock" && ::rmdir(folder.c_str()) == 0) folder = folder.parent_path();
    ranges_.tear_down();
}

}  // namespace svc::lxc
