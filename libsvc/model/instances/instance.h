#pragma once
// Instances, called containers on the older paths (specification: Container;
// docs/management.md, "Instances").
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/interned.h"
#include "libsvc/base/json.h"
#include "libsvc/model/instances/lifetime.h"
#include "libsvc/model/instances/steady_mark.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/model/packages/package_ref.h"

namespace svc {

class JsonText;

struct InstanceTag;
using InstanceId = Id<InstanceTag>;

enum class InstanceStatus {
    error = -1,
    unknown = 0,
    created = 1,
    prepared = 2,
    started = 3,
    running = 4,
    stopped = 5,
    deleted = 6
};
std::string_view to_text(InstanceStatus status);
std::optional<InstanceStatus> parse_instance_status(std::string_view text);
bool may_move(InstanceStatus from, InstanceStatus to);  // the table in docs/management.md

enum class InstanceType { unknown, regular, base };
std::string_view to_text(InstanceType type);

// One service of an instance; node_port 0: not assigned.
struct ServiceEntry {
    std::string name;
    std::uint16_t port = 0;
    std::uint16_t port_end = 0;  // 0: no range; else >= port
    std::uint16_t node_port = 0;
    std::uint16_t node_port_end = 0;
    std::vector<std::string> protocols;  // "tcp", "udp"
    bool expose = false;
    std::uint16_t count() const {
        return port_end ? static_cast<std::uint16_t>(port_end - port + 1) : std::uint16_t{1};
    }
    static ServiceEntry from_json(const JsonFields& fields);
    void write(JsonText& out) const;
    Json to_json() const;  // what write() writes
};
void check_services(const std::vector<ServiceEntry>& services);  // no overlap of port and protocol

struct InstanceConfig {
    std::string platform, boot_package, boot_activity, metrics_server, features;
    bool disable_watchdog = false;
    bool devmode = false;
    bool delete_protected = false;  // no deletion, forced or not, while this is set
    bool operator==(const InstanceConfig&) const = default;
};

// What is reserved for an instance. 0: nothing.
struct InstanceResources {
    double cpus = 0;
    std::uint64_t memory = 0;  // bytes
    std::uint64_t disk = 0;    // bytes
    int gpu_slots = 0;
    bool operator==(const InstanceResources&) const = default;
    void write(JsonText& out) const;  // {"cpus":2,"memory":"3GB","disk-size":"3GB","gpu-slots":1}, no zeros
    Json to_json() const;             // what write() writes
};

// The type of launches and applications that name none.
constexpr std::string_view default_instance_type = "a2.3";

// "a2.3" -> 2 CPUs, 3GB, 3GB, 0 GPU slots. Nothing for an unknown name.
std::optional<InstanceResources> instance_type_resources(std::string_view name);
std::vector<std::string> instance_type_names();

// What the agent needs of the application's manifest (docs/management.md, "Packages and manifests"). Empty
// name: the instance is launched from an image.
struct AppSetup {
    std::string name;
    std::string boot_package, boot_activity;
    std::string boot;  // a shell command that starts the application; "": none
    std::vector<std::string> required_permissions;
    Json extra_data;                // object: name -> {"target","owner","permissions"}
    std::vector<std::string> keep;  // bootstrap.keep
    bool watchdog_disabled = false;
    std::vector<std::string> watchdog_allowed_packages;
    std::string watchdog_command;  // a shell command that fails when the application does; "": none
    std::string video_encoder;
    Json to_json() const;
    static AppSetup from_json(const Json& value);
    bool operator==(const AppSetup&) const = default;
};

template <>
struct InternHash<InstanceConfig> {
    std::size_t operator()(const InstanceConfig& config) const;
};
template <>
struct InternHash<AppSetup> {
    std::size_t operator()(const AppSetup& app) const;
};
template <>
struct InternHash<PackageRef> {
    std::size_t operator()(const PackageRef& package) const;
};

// What a guest is made of and what it needs. Fixed when the launch is accepted; the same at each start.
struct GuestDescription : GuestImage {
    Interned<std::string> app_id, app_name;  // "": a raw instance
    int app_version = 0;
    Interned<std::string> image_id;
    int image_version = 0;
    Interned<std::vector<std::string>> layers;   // names in the LayerStore, lowest first
    Interned<std::vector<PackageRef>> packages;  // in the order in which their hooks run
    Interned<AppSetup> app;
    InstanceResources resources;
    Interned<std::vector<std::string>> features;  // global, application's, launch's, without duplicates
    Interned<std::vector<std::string>> node_selector;
    bool needs_gpu_encoder = false;  // video encoder `gpu`: placed only where an encoder slot is free
};

// A log of a failed instance. It is kept as a blob.
struct StoredLog {
    std::string name;    // "console.log"
    std::string digest;  // "": an earlier version keeps it in a file of the manager that has collected it
    bool operator==(const StoredLog&) const = default;
};

// There may be a hundred thousand in memory; fields that are equal in many records are interned.
struct Instance : GuestDescription {
    InstanceId id;
    std::string name() const { return own_name.empty() ? "svc-" + id.str() : *own_name; }
    InstanceType type = InstanceType::regular;
    InstanceStatus status = InstanceStatus::created;
    Interned<std::string> node;
    Time created_at{};
    std::string address;
    Interned<std::string> public_address;
    std::vector<ServiceEntry> services;
    std::vector<StoredLog> stored_logs;
    Interned<std::string> error_message;
    Interned<InstanceConfig> config;
    Interned<std::vector<std::string>> tags;
    Lifetime lifetime;

    // Not in the API:
    Interned<std::string> own_name;  // given at launch; "": the name follows from the id
    Interned<std::string> instance_type;
    Interned<std::string> gpu_type;    // of the GPUs it takes slots of; "": any
    bool prefers_gpu_encoder = false;  // `gpu-preferred`: takes an encoder slot where the node has a free one
    int gpu_encoder_slots = 0;         // reserved
    std::vector<int> gpus;             // ids of the node's GPUs reserved for it
    std::vector<std::string> notes;    // of the bootstrap: see InstanceReport
    Interned<std::string> user_data;
    bool no_start = false;
    bool stop_requested = false;
    // Its guest stands still (Runtime::freeze()). Means nothing while the status is not `running`.
    bool paused = false;
    // Waits, booted, for a launch of its application (docs/pool.md).
    bool pooled = false;
    // Other than `unknown`: the container cannot be read (docs/runtime.md), so `status` is `error`. The
    // instance keeps its reservations and gets this status back as soon as the container can be read.
    InstanceStatus status_when_readable = InstanceStatus::unknown;
    bool end_hooks_due = false;         // the guest ran; the hooks that come after it have not run yet
    Interned<std::string> wanted_node;  // named in the launch; "": any
    Time start_requested_at{};
    SteadyMark start_mark;  // the same moment: boot time counts from here
    Time stopped_at{};
    SteadyMark stop_mark;  // the same moment
    std::string task_id;
    std::string launch_operation;
};

bool is_paused(const Instance& instance);

// The id in a name of the form "svc-<id>"; "": `name` has another form.
std::string_view instance_id_in(std::string_view name);

void append_json(std::string& text, const Instance& instance);  // the record of the API
Json instance_to_store(const Instance& instance);
Instance instance_from_store(const Json& stored);

// Body of POST /1.0/containers and /1.0/instances (specification: Launch payload;
// docs/management.md, "Launch"). from_json checks all that needs no other object: types, ranges, names,
// exactly one of app_id and image_id; throws invalid_argument.
struct InstanceCreate {
    std::string name;  // "": it follows from the id
    std::string app_id;
    std::optional<int> app_version;
    std::string image_id;
    std::optional<int> image_version;
    std::string snapshot;       // id of a snapshot instead of application and image
    std::string instance_type;  // with image_id; "": default_instance_type, overridden by the resources
    std::string user_data;
    std::string node;
    std::vector<ServiceEntry> services;
    std::optional<std::uint64_t> disk_size, memory;  // bytes
    std::optional<double> cpus;
    std::optional<int> gpu_slots;
    std::vector<std::string> addons, tags;
    bool no_start = false;
    InstanceConfig config;
    LifetimeWish lifetime;
    static InstanceCreate from_json(const Json& body);
};

// Body of PATCH from a trusted client; exactly one of the three.
struct InstancePatch {
    std::optional<std::string> desired_status;
    std::optional<bool> delete_protected;
    LifetimeWish lifetime;
    static InstancePatch from_json(const Json& body);
};

// Report of the agent: the same PATCH with the instance's token (docs/management.md, "Reports of the agent").
struct InstanceReport {
    std::optional<std::string> status;  // "running", "error", "stopped"
    int error_code = 0;  // 0 none, 1 general, 2 hook, 3 application install, 4 watchdog, 5 timeout, 6
                         // network, 7 guest crashed
    std::string error_message;
    std::vector<std::string>
        notes;  // extension: deviations that are no failure, for the record of the application version
    static InstanceReport from_json(const Json& body);
    Json to_json() const;
};

// Body of POST .../exec (docs/management.md, "Exec").
struct ExecRequest {
    std::vector<std::string> command;
    std::vector<std::pair<std::string, std::string>> environment;
    bool interactive = false;
    unsigned width = 80, height = 24;
    static ExecRequest from_json(const Json& body);
};

// The content of /var/lib/svc-agent/session.json (mode 0600), which the service puts into each instance for
// the agent.
struct AgentSession {
    std::string instance_id;
    std::string instance_type;              // "regular" or "base"
    std::string service_socket;             // path inside the instance; "" when TLS is used
    std::vector<std::string> service_urls;  // https://...
    // Host of a URL -> its address: the agent does not resolve names.
    std::map<std::string, std::string> service_addresses;
    std::string service_fingerprint;
    std::string token;
    InstanceConfig config;
    std::string image_variant;  // "aaos": the guest is a vehicle's
    bool android = false;       // the guest is Android: the agent makes ready what it needs
    ReadinessCheck ready;
    int boot_timeout_seconds = 900;
    std::vector<PackageRef> packages;
    AppSetup app;
    std::vector<std::string> features;  // global, application's, launch's, without duplicates
    bool security_updates =
        false;                  // a base instance installs them first, where the guest has a package manager
    std::string apt_mirror;     // "": the guest's own
    std::string network_proxy;  // http_proxy and https_proxy of hooks and updates; "": none
    std::vector<std::string> name_servers;  // addresses, for guests that are told them; {}: the image's own
    std::string gpu_type;                   // "none", "nvidia", "intel", "amd"
    std::vector<int> gpus;                  // ids of the GPUs that the instance may use
    Json to_json() const;
    static AgentSession from_json(const Json& value);
};

}  // namespace svc
