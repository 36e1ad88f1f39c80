#pragma once
// The resources of a container on this machine: folders, mounts, groups, devices, rules. Makes and removes
// them.
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/container/core_pins.h"
#include "libsvc/runtime/lxc/disk/layers.h"
#include "libsvc/runtime/lxc/disk/quota.h"
#include "libsvc/runtime/lxc/host/container_records.h"
#include "libsvc/runtime/lxc/host/id_ranges.h"
#include "libsvc/runtime/lxc/network/network.h"
#include "libsvc/runtime/lxc/options.h"

namespace svc::lxc {

// Thread-safe, as long as no two calls concern the same container: callers have the container locked.
class Host {
  public:
    explicit Host(LxcOptions options);

    // Makes the container's folder with its disk limit, mounts it and places the files. Writes spec.json
    // last: a folder without it is a leftover.
    void make(StoredSpec& stored);
    void make_again(
        StoredSpec& stored);  // a new specification for a container that does not run; its files stay
    // Prepares a start: cleans up after an earlier run, mounts, writes liblxc's configuration.
    HaltSignals prepare(const StoredSpec& stored);
    // Before this nothing passes to the container or from it.
    void connect(const ContainerSpec& spec);
    void disable_device_ipv6(const std::string& id);  // of the device that liblxc has made
    void freeze(const std::string& id);               // throws as Runtime::freeze()
    void thaw(const std::string& id);  // also before its processes are killed: see thaw_group()
    bool is_frozen(const std::string& id) const;
    bool is_alone(const std::string& id, pid_t init) const;       // no other process of the container is left
    void sync_disk(const std::string& id) const;                  // what the guest wrote is on the disk
    void let_killed_end(const std::string& id, int pidfd) const;  // of a container that may be frozen
    // Kills the processes and removes all but the folder. Can be repeated.
    void clean_up(const std::string& id);
    // The same for a container whose processes have all ended: the kernel removes its network link with their
    // namespace. Returns the root file system for unmount_later(); call that when the files are removed, so
    // that the kernel does not write them to the disk.
    FileDescriptor clean_up_dead(const std::string& id);
    void unmount_later(FileDescriptor mount);
    // It removes what nobody else knows of, the profile that liblxc has generated: it must not be killed.
    bool monitor_cleans_up(const std::string& id) const;
    void remove_files(const StoredSpec& stored);
    // Moves the changes of a container that does not run into the layer `name`; see Capture.
    void capture(const StoredSpec& stored, const std::string& name, std::vector<std::string> leave_out);
    // Copies it instead: the container keeps its disk.
    void snapshot(const StoredSpec& stored, const std::string& name, std::vector<std::string> leave_out,
                  const std::stop_token& stop);
    // Makes the disk of a container that does not run a copy of the layer `name`.
    void restore(const StoredSpec& stored, const std::string& name, const std::stop_token& stop);

    // Gives a container that has lost its spec.json another one.
    void recreate_spec(const ContainerSpec& spec) const;
    HaltSignals halt_signals_of(const ContainerSpec& spec) const;
    void remember_cores(const std::string& id);  // of a container that was adopted

    std::uint32_t choose_project(const ContainerSpec& spec) const;
    // How a container that runs is on the bridge; nothing: its configuration cannot be read.
    std::optional<ConnectedContainer> connected(const ContainerSpec& spec) const;
    Capacity capacity() const;
    // Usage of a running container. `devices`: parse_devices() of this machine.
    ContainerUsage usage(const std::string& id,
                         const std::map<std::string, NetworkUsage, std::less<>>& devices) const;
    std::optional<std::uint64_t> quota_usage(std::uint32_t project) const { return quota_.used(project); }
    void tear_down();

    const LxcOptions& options() const { return options_; }
    // The program that starts containers.
    const std::filesystem::path& starting_helper() const;
    // That of the launcher that has started the container, for one that runs. Throws unavailable where it is
    // not installed.
    const std::filesystem::path& helper_of(const std::string& id) const;
    const Layout& layout() const { return context_.layout; }
    const ContainerRecords& records() const { return records_; }
    std::uint32_t id_base() const { return context_.id_base; }
    // The host id of the container's root.
    std::uint32_t root_of(const std::string& id) const { return ranges_.first_id(id); }
    // For a container that runs: it keeps the range that its init has. Does nothing when the init is gone.
    void keep_range(const std::string& id, pid_t init);
    Network& network() { return network_; }
    Layers& layers() { return layers_; }

  private:
    void place_files(StoredSpec& stored);
    void remove_run(const std::string& id);                 // rules, processes, control groups
    LauncherKind launcher_of(const std::string& id) const;  // that has started it last
    void kill_monitor(const std::string& id) const;
    void mount(const ContainerSpec& spec);
    std::uint32_t take_ids(const ContainerSpec& spec);
    std::vector<DeviceNode> device_nodes(const ContainerSpec& spec) const;
    void open_folder_to_own_root(const std::string& id) const;
    void give_range_back(const std::string& id);
    std::vector<std::string> own_paths(const StoredSpec& stored, std::vector<std::string> leave_out) const;
    void make_work(const StoredSpec& stored);
    void make_upper(const StoredSpec& stored);
    void complete_disk(const StoredSpec& stored);
    std::vector<unsigned> choose_cores(const ContainerSpec& spec);
    std::string enter_gpus(const ContainerSpec& spec) const;  // lines of the configuration
    Json described_cdi(const std::vector<MachineGpu>& gpus) const;

    LxcOptions options_;
    ConfigContext context_;
    ContainerRecords records_;
    Network network_;
    Layers layers_;
    Quota quota_;
    IdRanges ranges_;
    CorePins pins_;
    mutable std::once_flag
        details_once_;  // details_ are found out by running a program, once, when they are needed
    mutable Json details_;
    ThreadPool unmounts_;  // last: its destructor waits for the unmounts
};

}  // namespace svc::lxc
