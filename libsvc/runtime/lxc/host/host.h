#pragma once
// What a container needs of this machine, and its removal: folders, mounts, groups, devices, rules.
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
#include "libsvc/runtime/lxc/lxc_runtime.h"
#include "libsvc/runtime/lxc/network/network.h"
#include "libsvc/runtime/lxc/records.h"

namespace svc::lxc {

// Thread-safe, as long as no two calls concern the same container.
class Host {
  public:
    explicit Host(LxcOptions options);

    // The container's folder with its disk limit, mounted, files in place; spec.json last, as the mark that
    // it exists.
    void make(StoredSpec& stored);
    void make_again(StoredSpec& stored);  // an existing one that does not run: its files stay
    // Everything up to liblxc: mount, configuration, nothing left of an earlier run.
    HaltSignals prepare(const StoredSpec& stored);
    void forward_ports(const ContainerSpec& spec);
    // Ends what may still run and takes away all but the folder. Nothing to do is fine.
    void clean_up(const std::string& id);
    // The same for one whose processes have all ended: its network link ends with their namespace. What was
    // its root file system is for unmount_later(), best when its files are gone: nobody has to write them
    // then.
    FileDescriptor clean_up_dead(const std::string& id);
    void unmount_later(FileDescriptor mount);
    bool monitor_cleans_up() const { return context_.apparmor; }  // takes away the profile it has generated
    void remove_files(const StoredSpec& stored);
    // Moves what a container that does not run has changed into the layer `name`; see Capture.
    void capture(const StoredSpec& stored, const std::string& name, std::vector<std::string> leave_out);

    // Nothing: never finished, or removed by half. Throws when it is there and cannot be read or understood.
    std::optional<StoredSpec> read_spec(const std::string& id) const;
    std::optional<RunRecord> read_run(const std::string& id) const;
    std::optional<ProcessId> read_agent(
        const std::string& id) const;  // the one that was started last, if it runs
    // Until no helper of a daemon before us is at work on it. Throws busy when that takes too long.
    void wait_for_helpers(const std::string& id) const;
    void write_run(const std::string& id, const RunRecord& run) const;
    Ending read_ending(const std::string& id) const;
    std::optional<int> read_exit_status(
        const std::string& id) const;                        // liblxc's; nothing: the monitor was killed
    std::string start_failure(const std::string& id) const;  // what liblxc or init's status say about it
    HaltSignals halt_signals_of(const ContainerSpec& spec) const;
    void remember_cores(const std::string& id);         // of a container that runs already
    bool monitor_may_run(const std::string& id) const;  // its socket is there

    std::uint32_t choose_project(const ContainerSpec& spec) const;
    ForwardedContainer forwarded(const ContainerSpec& spec) const { return {spec.address, spec.forwards}; }
    Capacity capacity() const;
    // What the kernel counts for a running container. `devices`: parse_devices() of this machine.
    ContainerUsage usage(const std::string& id,
                         const std::map<std::string, NetworkUsage, std::less<>>& devices) const;
    std::optional<std::uint64_t> quota_usage(std::uint32_t project) const { return quota_.used(project); }
    void tear_down();

    const LxcOptions& options() const { return options_; }
    const Layout& layout() const { return context_.layout; }
    std::uint32_t id_base() const { return context_.id_base; }
    Network& network() { return network_; }
    Layers& layers() { return layers_; }

  private:
    void place_files(StoredSpec& stored);
    void take_away(const std::string& id);  // rules, processes, control groups
    void mount(const ContainerSpec& spec);
    void make_upper(const StoredSpec& stored);
    void complete_disk(const StoredSpec& stored);
    std::vector<unsigned> choose_cores(const ContainerSpec& spec);

    LxcOptions options_;
    ConfigContext context_;
    Network network_;
    Layers layers_;
    Quota quota_;
    CorePins pins_;
    mutable std::once_flag details_once_;  // they ask a program: not at start-up, and not each time
    mutable Json details_;
    ThreadPool unmounts_;  // last: ends when all have been written
};

}  // namespace svc::lxc
