#pragma once
// What is to be started, read from the configuration that the runtime writes for each container (the file
// `config`, see container/config.h). Only the keys that the runtime writes are known; any other line is
// refused, so that nothing that is asked for is left out. Pure.
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svc::lxc {

// Of the launcher: the text is told to the user of the service.
class LaunchFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct BindMount {
    std::string source;     // on the host
    std::string target;     // in the container, from its root
    std::uint64_t flags{};  // MOUNT_ATTR_*
    enum class Create { nothing, file, folder } create = Create::nothing;
    bool optional = false;  // left out where the source or the target is not there
};

struct GroupLimit {
    std::string controller;  // "memory"
    std::string file;        // "memory.limit_in_bytes"
    std::string value;
    bool version_2 = false;
};

struct GuestNetwork {
    std::string bridge, host_device, guest_device;  // names
    std::string hardware_address;                   // "02:16:0a:4d:09:02"
    std::string address, gateway;                   // IPv4
    unsigned prefix = 0;
    unsigned mtu = 0;
};

struct ResourceLimit {
    int resource = 0;  // RLIMIT_*
    std::uint64_t value = 0;
};

// Where control groups are mounted.
struct Hierarchy {
    enum class Kind { version_1, named, version_2 } kind = Kind::version_1;  // named: without a controller
    std::string controllers;                                                 // of version 1, "cpu,cpuacct"
    std::string mount;
    bool has(std::string_view controller) const;
};

// Of AppArmor, for the processes of the container: the profile, and the namespace of the guest's own
// policies.
struct Confinement {
    std::string profile;           // is loaded
    std::string policy_namespace;  // made for each start
};

struct Plan {
    std::string host_name;
    std::string root;                              // the mounted root file system
    unsigned first_id = 0, id_count = 0;           // the host's, for users and groups
    bool maps_users = false, maps_groups = false;  // both, in a plan
    std::string seccomp;                           // file of refused system calls; empty: none
    bool unconfined = false;  // by AppArmor: the machine has none. Else there is a `confinement`
    std::optional<Confinement> confinement;
    std::vector<std::string> init;
    std::string console_log;
    std::uint64_t console_size = 0;  // bytes
    std::string log;                 // for the reason of a failed start
    unsigned terminals = 0;          // /dev/tty1 and so on
    unsigned most_terminals = 1024;  // of /dev/pts
    std::optional<GuestNetwork> network;
    std::vector<BindMount> mounts;
    std::string group, monitor_group;  // "svc-svcbr0/ID"
    std::vector<Hierarchy> hierarchies;
    std::vector<GroupLimit> limits;
    std::vector<ResourceLimit> resource_limits;
    std::vector<std::string> environment;  // of init
    std::string stop_command;              // for /bin/sh, when init has ended

    bool has_only_version_2() const;  // of control groups
};

// Throws LaunchFailure naming the line.
Plan parse_plan(std::string_view config);

}  // namespace svc::lxc
