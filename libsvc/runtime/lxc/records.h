#pragma once
// What the runtime remembers of a container between two lives of the daemon: spec.json and run.json.
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/base/process.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Placed files are not kept: they lie in the container, and may hold secrets.
struct StoredSpec {
    ContainerSpec spec;
    std::uint32_t project = 0;             // of the disk quota; 0: none
    std::vector<std::string> placed = {};  // where files were placed, ever
};
Json to_json(const StoredSpec& stored);
StoredSpec stored_spec_from_json(const Json& json);
bool same_container(const ContainerSpec& a, const ContainerSpec& b);  // but for the files

// Pids with start times, so that a reused number is never mistaken for ours.
struct RunRecord {
    ProcessId monitor, init, agent;
    std::optional<Time> started_at;
    bool stopped = false;  // it has ended; the pids are old
    bool once = false;     // of run_once(), written before it begins: never a guest that runs on
};
Json to_json(const RunRecord& run);
RunRecord run_record_from_json(const Json& json);

// How a container ended, from what the monitor left: nothing when it was killed itself.
struct Ending {
    bool clean = false;
    std::string reason;
    bool init_ran = false;
};
// `lxc_status`: exit code << 8, or signal << 8 | 0x7f; -1 when init never ran.
Ending describe_ending(std::optional<int> lxc_status, std::uint64_t oom_kills);
bool has_run(int lxc_status);      // else liblxc failed before it
int exit_code_of(int lxc_status);  // 128 + signal when killed

// The first complaint in a log of liblxc, without its decoration; empty without one.
std::string first_lxc_error(std::string_view log);

}  // namespace svc::lxc
