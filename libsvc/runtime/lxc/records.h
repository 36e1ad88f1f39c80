#pragma once
// What the runtime keeps on disk of a container so that the next daemon finds it: spec.json and run.json.
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// spec.json. The content of placed files is not stored: it may hold secrets, and the container has the files.
struct StoredSpec {
    ContainerSpec spec;
    std::uint32_t project = 0;             // of the disk quota; 0: none
    std::vector<std::string> placed = {};  // where files were placed, ever
};
// spec.json is missing or damaged: nothing can be learnt from it any more, unlike one that cannot be read
// now.
class LostSpecification : public Error {
  public:
    explicit LostSpecification(const std::string& what) : Error(ErrorCode::internal, what) {}
};

Json to_json(const StoredSpec& stored);
StoredSpec stored_spec_from_json(const Json& json);
bool same_container(const ContainerSpec& a, const ContainerSpec& b);  // compares all but the placed files

// run.json: the processes of a run. Pids have start times, so that a reused pid is never mistaken for theirs.
struct RunRecord {
    ProcessId monitor, init, agent;
    std::optional<Time> started_at;
    bool stopped = false;  // the run is over; the pids are old
    bool once = false;     // of run_once(): a later daemon ends it instead of adopting it
};
Json to_json(const RunRecord& run);
RunRecord run_record_from_json(const Json& json);

// Why a container ended. `lxc_status` is what its monitor wrote (exit code << 8, or signal << 8 | 0x7f; -1
// when init never ran); nothing: the monitor itself was killed.
struct ExitCause {
    bool clean = false;
    std::string reason;
    bool init_ran = false;
};
ExitCause describe_exit(std::optional<int> lxc_status, std::uint64_t oom_kills);
bool has_run(int lxc_status);      // false: liblxc failed before init was started
int exit_code_of(int lxc_status);  // 128 + signal when killed

// The text of the first error line in a log of liblxc; empty without one.
std::string first_lxc_error(std::string_view log);

}  // namespace svc::lxc
