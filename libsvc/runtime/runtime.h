#pragma once
// The seam to what runs containers, with the implementations lxc (this machine), lxd (an LXD) and simulated.
// docs/runtime.md; tests/contract/runtime_contract.h is what every implementation must do.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/formats/compression.h"
#include "libsvc/runtime/machine_gpus.h"
#include "libsvc/runtime/usage.h"

namespace svc {

// A file placed into the container before it starts, owned by its root.
struct PlacedFile {
    std::string path;  // absolute, inside the container
    std::string content;
    unsigned mode = 0644;
};

// A forwarded block of ports: node_port to node_port+count-1 of the node lead to port to port+count-1 inside.
struct PortForward {
    std::uint16_t port = 0;
    std::uint16_t node_port = 0;
    std::uint16_t count = 1;
    bool tcp = false;
    bool udp = false;
    bool exposed = false;  // forwarded from the node's public address; else from its private one
    bool operator==(const PortForward&) const = default;
};

// Where a service listens whose address the container was given at its launch. If that is on the node, the
// container may reach it there. What is no IPv4 address is ignored.
struct AllowedEndpoint {
    std::string address;
    std::uint16_t port = 0;
    bool tcp = true, udp = false;
    bool operator==(const AllowedEndpoint&) const = default;
};

struct ContainerSpec {
    std::string id;                   // object id of the instance
    std::string node;                 // where it runs; "": on the runtime's only node
    std::string name;                 // "svc-<id>", also the host name inside
    std::vector<std::string> layers;  // read-only layers by name, lowest first
    double cpus = 0;                  // 0: no limit
    std::uint64_t memory_bytes = 0;   // 0: no limit
    std::uint64_t disk_bytes = 0;     // of the writable layer; 0: no limit
    std::uint32_t processes = 0;      // 0: the runtime's default
    std::string address;              // "192.168.100.2", in the runtime's subnet
    std::vector<PortForward> forwards;
    std::vector<AllowedEndpoint> allowed_endpoints;
    std::vector<PlacedFile> files;
    std::string init;       // "": /sbin/init, of Android /init
    bool run_agent = true;  // start svc-agent after init and keep it running
    // svc-agent is the first program of the container ("svc-agent --boot -- <init>"): it runs the hooks that
    // come before the guest and then executes `init`. The agent of run_agent is started as well.
    bool boot_by_agent = false;
    bool pin_cpus = false;  // the runtime gives it whole cores (cpuset) instead of a share of CPU time
    std::vector<std::string> gpus;  // render names of the machine's GPUs that enter it: "D128"
    // The guest is Android: binder, more user ids, limits and a stop signal as it needs them. Where the node
    // has no binder, create() throws unsupported.
    bool android = false;

    std::string first_program() const { return !init.empty() ? init : android ? "/init" : "/sbin/init"; }
};

// `unreadable`: the container exists, but its records cannot be read at present, so it is not known whether
// it runs. All calls but remove() and logs() throw unavailable; the runtime retries by itself.
enum class ContainerState { created, running, stopped, unreadable };

struct ContainerInfo {
    std::string id;
    std::string node;  // "": the runtime has one
    ContainerState state = ContainerState::created;
    std::optional<Time> started_at;
    pid_t init_pid = 0;               // on this machine; 0 when not running
    bool frozen = false;              // of a running one: see Runtime::freeze()
    std::string agent_state;          // "running", "restarting"; "": the container has no agent
    std::string fault;                // why it is unreadable
    bool specification_lost = false;  // it is unreadable for want of what recreate_spec() gives it
};

// The node of a runtime.
struct Capacity {
    std::string runtime;  // "lxc", "simulated"
    std::uint32_t cpus = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t disk_bytes = 0;
    std::string architecture;    // "x86_64"
    std::string address;         // of the machine, where private services are forwarded from
    std::string public_address;  // where exposed services are forwarded from, as it is configured
    std::string forwards_from;   // where they are forwarded from at present: Runtime::forward_from()
    std::string bridge;
    std::string subnet;  // "192.168.100.1/20": the gateway's address and prefix
    std::uint32_t bridge_mtu = 1500;
    std::string storage_pool;
    bool disk_limit_enforced = false;
    std::vector<MachineGpu> gpus;
    std::string android_fault;  // why it runs no Android guests; "": it does
    Json details;               // for the node's record: cgroup layout, kernel, missing features
};

// A machine on which a runtime runs containers.
struct RuntimeNode {
    std::string name;  // "": the runtime has one, whose name is not the runtime's business
    Capacity capacity;
    bool online = true;
    std::string fault;       // why it is not online
    bool failing = false;    // not online, though its manager answers: what runs its containers does not
    bool evacuated = false;  // what runs its containers takes no new ones, until somebody restores it
    bool managed = true;     // false: an operator has joined it to the others, not its manager
};

struct ExecSpec {
    std::vector<std::string> command;
    std::map<std::string, std::string> environment;  // added to the defaults
    bool terminal = false;                           // one pseudo terminal instead of three pipes
    unsigned width = 80, height = 24;
};

// A command that runs inside a container. The object owns the descriptors, which do not block: the caller
// reads or writes them until EOF and calls close_input() for the end of input. Not thread-safe, except kill()
// and resize().
class ExecProcess {
  public:
    virtual ~ExecProcess() = default;  // kills the command if it still runs; leaves no process behind
    virtual int input() const = 0;     // with a terminal: the same descriptor as output()
    virtual int output() const = 0;
    virtual int errors() const = 0;  // -1 with a terminal
    virtual void close_input() = 0;
    virtual int ended() const = 0;  // becomes readable when the command has ended
    // After ended(): the exit code; 128 + signal; 126: not executable; 127: not found; 129: the container
    // stopped.
    virtual int exit_code() = 0;
    // True: the command was not found (exit code 127) or not executable (126). A command may also return
    // these codes itself; then this is false.
    virtual bool exec_failed() const { return false; }
    virtual void kill(int signal) = 0;
    virtual void resize(unsigned width, unsigned height) = 0;
};

struct RuntimeEvent {
    enum class Kind { stopped, agent_died } kind = Kind::stopped;
    std::string id;
    bool clean = true;   // of `stopped`: the guest shut down by itself without an error
    std::string reason;  // "init exited with status 1", "init was killed by signal 9 (out of memory)"
};

struct LogFile {
    std::string name;  // "console.log"
    std::filesystem::path path;
    // Set where the guest could replace what `path` leads to: the opened file, to be read instead of `path`.
    std::shared_ptr<const FileDescriptor> file = nullptr;
};

// Thread-safe; calls block. Every call can be repeated: to create a container that exists with the same
// specification, to start a running one, to freeze a frozen one, to thaw one that is not frozen, to stop a
// stopped one and to remove an absent one succeed. Errors: not_found for an unknown container, unavailable
// for an unreadable one, exhausted, internal, unsupported.
class Runtime {
  public:
    virtual ~Runtime() = default;
    // An existing container that does not run takes over the new specification (address, ports, files placed)
    // at its next start and keeps its writable layer.
    virtual void create(const ContainerSpec& spec) = 0;
    // Gives an unreadable container the specification that it has lost; its files stay as they are, and are
    // not placed again. Throws not_found, unavailable where it is still unreadable then.
    virtual void recreate_spec(const ContainerSpec& spec) { create(spec); }
    // Returns when init runs. Throws when it cannot be started, or ended at once.
    virtual void start(std::string_view id) = 0;
    // Asks init to shut down and kills all processes after `grace` (0: at once). Returns when the processes,
    // mounts, devices and rules of the container are gone.
    virtual void stop(std::string_view id, Duration grace) = 0;
    // No process of a running container goes on until thaw(); memory, network and files stay as they are,
    // also when the service ends. Returns when all stand still; throws unavailable where they do not within
    // 10 s, and has thawed them then. Both throw conflict for a container that does not run. start() leaves a
    // frozen container frozen, stop() and remove() thaw it first, exec() throws conflict.
    virtual void freeze(std::string_view id) = 0;
    virtual void thaw(std::string_view id) = 0;
    // Runs `command` (absolute path first) as the only program of a stopped container, with its files,
    // network, limits and binds, and returns the exit code (128 + signal when killed) when no process of the
    // container is left: for hooks that come after the guest. First kills the command of an interrupted call.
    // Kills the command after `limit` and throws unavailable "<command> timed out"; when `stop` is requested,
    // throws cancelled. The listener of on_event() is not called.
    virtual int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                         std::stop_token stop) = 0;
    virtual void remove(std::string_view id) = 0;  // stops it first; leaves no file, mount, device or rule
    virtual std::optional<ContainerInfo> inspect(std::string_view id) = 0;
    virtual std::vector<ContainerInfo> list() = 0;
    // What a container was made with, without the placed files; nothing: it is not known.
    virtual std::optional<ContainerSpec> specification(std::string_view) { return std::nullopt; }
    virtual std::vector<ContainerUsage>
    usage() = 0;  // of the running containers, ordered by id; waits for no other call
    virtual std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) = 0;
    virtual std::vector<LogFile> logs(std::string_view id) = 0;  // those that exist and are not empty
    virtual Capacity capacity() = 0;                             // of this machine
    // All machines. Where there are several, a specification names its node, a container stays on it, and one
    // of a node that is not online is unreadable.
    virtual std::vector<RuntimeNode> nodes() { return {{"", capacity(), true, ""}}; }
    // From now on exposed services of the node are forwarded from `public_address`, also those of containers
    // that run, until the runtime is made anew. Where it is none of the machine's addresses, a router
    // translates it, and they are forwarded from the machine's own. Repeatable. Throws unavailable for a node
    // that is offline or does not answer.
    virtual void forward_from(std::string_view node, const std::string& public_address) = 0;
    // Sets the one listener. It is called when a node came, went, or has changed, on a thread of the runtime.
    virtual void on_nodes_changed(std::function<void()>) {}
    // Sets the one listener. It is called when a container ends that nobody has stopped or removed, on a
    // thread of the runtime.
    virtual void on_event(std::function<void(const RuntimeEvent&)> listener) = 0;
};

// An archive that is made while it is read. One thread at a time.
class ArchiveStream {
  public:
    virtual ~ArchiveStream() = default;
    virtual std::string read(
        std::size_t at_most) = 0;  // "" at the end; throws where the archive cannot be made
    // Names all that the bytes of an export depend on besides what it contains: who makes it, by which
    // compression of which release. "": not known, another stream of the same content may have other bytes.
    virtual std::string format() const { return {}; }
};

// What an exported archive contains.
struct ExportRequest {
    std::vector<std::string> layers;              // lowest first
    std::string metadata;                         // text of metadata.yaml
    Compression compression = Compression::gzip;  // or zstd
};

// Read-only layers that containers are made of: the unpacked root file systems of image versions, and the
// changes that bootstraps have made on top of them. Thread-safe; calls block and can be repeated, like those
// of Runtime.
class LayerStore {
  public:
    virtual ~LayerStore() = default;
    struct Progress {
        std::function<void(std::uint64_t bytes, std::uint64_t total)> report;  // may be empty
        std::stop_token stop;  // when requested, add() throws cancelled and leaves nothing
    };
    // Unpacks the `rootfs` of a package. The layer appears under `name` when it is complete and synced.
    // Throws invalid_argument for a hostile or broken archive, exhausted for a full disk.
    virtual void add(std::string_view name, const std::filesystem::path& package,
                     const Progress& progress) = 0;
    virtual void remove(std::string_view name) = 0;  // throws busy while a container uses it
    // Makes the changes of a stopped container the layer `name`, to be used on top of the container's own
    // layers. They are moved, not copied; the container has an empty disk afterwards. Left out: files that
    // its specification placed, and `leave_out` (absolute paths, with all below them). Can be repeated after
    // a crash at any moment. Throws not_found, busy for a running one.
    virtual void capture(std::string_view name, std::string_view container,
                         const std::vector<std::string>& leave_out) = 0;
    // The same, but copied: the container keeps its disk. Repeatable; throws cancelled on a stop request.
    virtual void snapshot(std::string_view name, std::string_view container,
                          const std::vector<std::string>& leave_out, std::stop_token stop) = 0;
    // Makes the disk of a stopped container a copy of the layer `name`, which was made of a container of the
    // same layers. What was on the disk before is gone; a failure or a crash leaves the one or the other
    // whole. Throws not_found, busy for a running one, cancelled.
    virtual void restore(std::string_view name, std::string_view container, std::stop_token stop) = 0;
    // A gzip tarball of metadata.yaml and rootfs/ as a container of these layers would see it: merged, with
    // the owners of the guest, the same bytes each time. Constant memory, no temporary files. The layers
    // cannot be removed while the stream exists.
    virtual std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) = 0;
    // A layer on its way to another machine, which makes the identical one of it. The bytes are for unpack()
    // of the same kind of store only. The layer cannot be removed while the stream exists. Throws not_found,
    // unsupported.
    virtual std::unique_ptr<ArchiveStream> pack(std::string_view name);
    // Does nothing, and reads nothing, where the layer exists. It appears when it is complete and synced.
    // Throws invalid_argument for broken bytes, exhausted, cancelled, unsupported, and what the stream
    // throws.
    virtual void unpack(std::string_view name, ArchiveStream& packed, std::stop_token stop);
    virtual bool contains(std::string_view name) = 0;
    // Whether the layer has a file at `path` ("/system/build.prop"); links do not count. False where the
    // store keeps no layers unpacked.
    virtual bool contains_file(std::string_view, std::string_view) { return false; }
    virtual std::uint64_t size(std::string_view name) = 0;  // bytes of its files
    virtual std::vector<std::string> list() = 0;
};

}  // namespace svc
