#pragma once
// A container of this service as LXD's instance, in both directions: what LXD is asked for, and what it
// tells. Pure functions.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/records.h"
#include "libsvc/runtime/lxd/options.h"

namespace svc::lxd {

// Keys of an instance's configuration that are ours.
constexpr const char* service_key = "user.svc.service";    // whose instance it is
constexpr const char* spec_key = "user.svc.spec";          // lxc::StoredSpec
constexpr const char* ready_key = "user.svc.ready";        // "true" when it is made whole
constexpr const char* captured_key = "user.svc.captured";  // "true": its disk counts as empty
constexpr const char* once_key = "user.svc.once";          // "true" while a command runs alone in it
constexpr const char* id_base_key = "security.idmap.base";
constexpr const char* init_key = "raw.lxc";
constexpr const char* frozen_status = "Frozen";

struct Instance {
    std::string name;
    std::string location;  // the member of a cluster that has it; "none" without a cluster
    std::string status;    // "Running", "Frozen", "Stopped"
    lxc::StoredSpec stored;
    std::string hardware_address;  // of its network device; "": LXD chooses one
    std::uint32_t id_base = 0;
    bool ready = false, captured = false, once = false, started_before = false;
    std::optional<Time> started_at;
    bool frozen() const { return status == frozen_status; }
    bool running() const { return status == "Running" || frozen(); }
};

std::string instance_name(std::string_view id);  // "svc-<id>"
std::string instance_path(std::string_view id);  // "/1.0/instances/svc-<id>"

// Nothing: the instance is not of `service`. Throws where its specification cannot be read.
std::optional<Instance> parse_instance(const Json& record, std::string_view service);

// What follows from a specification: the keys that change with it. `devices` as LXD has them, too.
Json config_of(const lxc::StoredSpec& stored, const LxdOptions& options);
Json devices_of(const lxc::StoredSpec& stored, const LxdOptions& options, const std::string& pool);
// Text of raw.lxc: the network, and the first program. `alone`: the program that waits while a command runs
// alone.
std::string raw_lines(const ContainerSpec& spec, const LxdOptions& options, bool alone);
Json creation_of(const lxc::StoredSpec& stored, const LxdOptions& options, const std::string& pool,
                 const std::string& fingerprint, std::uint32_t id_base);

// Of the host's end of the network device, which has the same name in each start.
std::string device_of(std::string_view id, const LxdOptions& options);

// The first ids of the ranges that containers may have: of root's entry in /etc/subuid, without the first
// range, which LXD gives to containers that share theirs.
std::vector<std::uint32_t> id_bases(std::string_view subuid);

}  // namespace svc::lxd
