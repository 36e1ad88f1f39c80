#pragma once
// The seam to what runs containers: liblxc on this machine, a simulation, later a cluster.
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
#include "libsvc/runtime/usage.h"

namespace svc {

// A file placed into the container before it starts, owned by its root.
struct PlacedFile {
    std::string path;  // absolute, inside the container
    std::string content;
    unsigned mode = 0644;
};

// One forwarded block of ports: node_port .. node_port+count-1 on the node to port .. port+count-1 inside.
struct PortForward {
    std::uint16_t port = 0;
    std::uint16_t node_port = 0;
    std::uint16_t count = 1;
    bool tcp = false;
    bool udp = false;
    bool exposed = false;  // forwarded from the public address, else from the private one
    bool operator==(const PortForward&) const = default;
};

struct ContainerSpec {
    std::string id;                   // object id of the instance
    std::string name;                 // "svc-<id>", also the host name inside
    std::vector<std::string> layers;  // read-only layers by name, lowest first
    double cpus = 0;                  // 0: no limit
    std::uint64_t memory_bytes = 0;   // 0: no limit
    std::uint64_t disk_bytes = 0;     // of the writable layer; 0: no limit
    std::uint32_t processes = 0;      // 0: the runtime's default
    std::string address;              // "192.168.100.2", in the runtime's subnet
    std::vector<PortForward> forwards;
    std::vector<PlacedFile> files;
    std::string init;       // "": /sbin/init
    bool run_agent = true;  // start svc-agent after init and keep it running
    // svc-agent is the first program of the container ("svc-agent --boot -- <init>"): it runs what must come
    // before the guest and then becomes `init`. The agent of run_agent is started beside it as ever.
    bool boot_by_agent = false;
    bool pin_cpus = false;  // `cpus` as whole cores of its own choice (cpuset) instead of a share of time
};

// `unreadable`: it is there, and what is known of it cannot be read now, so it may run or not. It is refused
// everything but remove() and logs(), which is why nobody may take it for gone; the runtime looks again by
// itself.
enum class ContainerState { created, running, stopped, unreadable };

struct ContainerInfo {
    std::string id;
    ContainerState state = ContainerState::created;
    std::optional<Time> started_at;
    pid_t init_pid = 0;       // on this machine; 0 when not running
    std::string agent_state;  // "running", "restarting", "" when none is wanted
    std::string fault;        // of an unreadable one: why
};

// What a runtime says about its one node.
struct Capacity {
    std::string runtime;  // "lxc", "simulated"
    std::uint32_t cpus = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t disk_bytes = 0;
    std::string architecture;    // "x86_64"
    std::string address;         // of the machine, where private services are forwarded from
    std::string public_address;  // where exposed services are forwarded from
    std::string bridge;
    std::string subnet;  // "192.168.100.1/20": the gateway's address and prefix
    std::uint32_t bridge_mtu = 1500;
    std::string storage_pool;
    bool disk_limit_enforced = false;
    Json details;  // anything else worth showing: cgroup layout, kernel, missing features
};

struct ExecSpec {
    std::vector<std::string> command;
    std::map<std::string, std::string> environment;  // added to the defaults
    bool terminal = false;                           // one pseudo terminal instead of three pipes
    unsigned width = 80, height = 24;
};

// A command that runs inside a container. The descriptors are ours: non-blocking, read or write them until
// EOF, close `input` for end of input. Not thread-safe, but kill(), resize() may come from another thread.
class ExecProcess {
  public:
    virtual ~ExecProcess() = default;  // kills the command if it still runs; leaves no process behind
    virtual int input() const = 0;     // with a terminal: the same descriptor as output()
    virtual int output() const = 0;
    virtual int errors() const = 0;  // -1 with a terminal
    virtual void close_input() = 0;
    virtual int ended() const = 0;  // becomes readable when the command has ended
    // After `ended`: the exit code, 128 + signal, 126/127 not executable/not found, 129 when the container
    // stopped.
    virtual int exit_code() = 0;
    // The command never ran: not found (exit code 127) or not executable (126), which its own status could be
    // as well.
    virtual bool exec_failed() const { return false; }
    virtual void kill(int signal) = 0;
    virtual void resize(unsigned width, unsigned height) = 0;
};

struct RuntimeEvent {
    enum class Kind { stopped, agent_died } kind = Kind::stopped;
    std::string id;
    bool clean = true;   // stopped: the guest shut down by itself with success
    std::string reason;  // "init exited with status 1", "init was killed by signal 9 (out of memory)"
};

struct LogFile {
    std::string name;  // "console.log"
    std::filesystem::path path;
    // Opened for reading already where the guest may change what `path` leads to: then nobody opens that
    // again.
    std::shared_ptr<const FileDescriptor> file = nullptr;
};

// Thread-safe. Every call can be repeated: creating what exists alike, starting the running, stopping the
// stopped and removing the absent succeed. Errors: not_found for an unknown container where that matters,
// unavailable for an unreadable one, exhausted, internal, unsupported.
class Runtime {
  public:
    virtual ~Runtime() = default;
    // An existing container that does not run takes over the new specification (address, ports, files placed)
    // at its next start and keeps its writable layer.
    virtual void create(const ContainerSpec& spec) = 0;
    // Returns when init runs. Throws when it cannot be started, or ended at once.
    virtual void start(std::string_view id) = 0;
    // Asks init to shut down, kills everything after `grace` (0: at once). Returns when nothing of it runs,
    // its mounts, device and rules are gone.
    virtual void stop(std::string_view id, Duration grace) = 0;
    // Runs `command` (absolute path first) as the only program of a stopped container, with its files,
    // network, limits and binds, and returns the exit code (128 + signal when killed) when nothing of it runs
    // any more: for hooks that come after the guest. What an interrupted call left running is killed first.
    // Killed after `limit` or when stop is requested: throws unavailable
    // "<command> timed out" or cancelled. Tells the listener of on_event() nothing.
    virtual int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                         std::stop_token stop) = 0;
    virtual void remove(std::string_view id) = 0;  // stops it first; leaves no file, mount, device or rule
    virtual std::optional<ContainerInfo> inspect(std::string_view id) = 0;
    virtual std::vector<ContainerInfo> list() = 0;
    virtual std::vector<ContainerUsage> usage() = 0;  // of those that run, by id; waits for none of them
    virtual std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) = 0;
    virtual std::vector<LogFile> logs(std::string_view id) = 0;  // what there is to read
    virtual Capacity capacity() = 0;
    // One listener: told of containers that end without having been asked to. Called from a thread of the
    // runtime.
    virtual void on_event(std::function<void(const RuntimeEvent&)> listener) = 0;
};

// Bytes of an archive as they are made.
class ArchiveStream {
  public:
    virtual ~ArchiveStream() = default;
    virtual std::string read(std::size_t at_most) = 0;  // "" at the end; throws what broke it
};

// What stands at the top of an exported archive.
struct ExportRequest {
    std::vector<std::string> layers;  // lowest first
    std::string metadata;             // text of metadata.yaml
};

// Read-only layers that containers are made of: one unpacked root file system per image version.
// Thread-safe, repeatable like Runtime.
class LayerStore {
  public:
    virtual ~LayerStore() = default;
    struct Progress {
        std::function<void(std::uint64_t bytes, std::uint64_t total)> report;  // may be empty
        std::stop_token stop;  // then throws cancelled, leaving nothing
    };
    // Unpacks the `rootfs` of a package. Visible under `name` only when complete and synced.
    // Throws invalid_argument for a hostile or broken archive, exhausted for a full disk.
    virtual void add(std::string_view name, const std::filesystem::path& package,
                     const Progress& progress) = 0;
    virtual void remove(std::string_view name) = 0;  // absent is fine; in use by a container: throws busy
    // Makes what a stopped container changed into the layer `name`, over that container's own layers: moved,
    // not copied. Left out: files that its specification placed, and `leave_out` (paths from the root, with
    // what is below). The container has an empty disk afterwards. Repeatable, also after a crash in the
    // middle. Throws not_found, busy for a running one.
    virtual void capture(std::string_view name, std::string_view container,
                         const std::vector<std::string>& leave_out) = 0;
    // A gzip tarball of metadata.yaml and rootfs/ as a container of these layers would see it: merged, owners
    // shifted back, the same bytes each time. Constant memory; leaves nothing behind whenever it ends. The
    // layers must stay meanwhile: claims them.
    virtual std::unique_ptr<ArchiveStream> export_archive(const ExportRequest& request) = 0;
    virtual bool contains(std::string_view name) = 0;
    virtual std::uint64_t size(std::string_view name) = 0;  // bytes of its files
    virtual std::vector<std::string> list() = 0;
};

}  // namespace svc
