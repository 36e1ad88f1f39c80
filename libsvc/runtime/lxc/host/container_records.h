#pragma once
// What the files in a container's folder tell of its specification, its processes and its end.
#include <optional>
#include <string>
#include <utility>

#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/layout.h"
#include "libsvc/runtime/lxc/records.h"

namespace svc::lxc {

// Thread-safe, as long as no two calls concern the same container.
class ContainerRecords {
  public:
    explicit ContainerRecords(Layout layout) : layout_(std::move(layout)) {}

    // Nothing: the container was never finished, or is half removed. Throws LostSpecification for a damaged
    // file, Error when the file exists and cannot be read.
    std::optional<StoredSpec> read_spec(const std::string& id) const;
    // Writes spec.json anew for a container that has lost it. The damaged file is kept beside it.
    void recreate_spec(const ContainerSpec& spec, std::uint32_t project) const;
    std::optional<RunRecord> read_run(const std::string& id) const;
    void write_run(const std::string& id, const RunRecord& run) const;
    // The agent that was started last, if it runs.
    std::optional<ProcessId> read_agent(const std::string& id) const;
    // Waits until no helper works on the container; none begins while the descriptor is open. Throws busy
    // after 30 s.
    FileDescriptor lock_out_helpers(const std::string& id) const;
    bool monitor_may_run(const std::string& id) const;  // its socket is there
    ExitCause read_exit_cause(const std::string& id) const;
    // See ExitCause; nothing: the monitor was killed.
    std::optional<int> read_exit_status(const std::string& id) const;
    // Why a start failed, from the launcher's log or init's status.
    std::string start_failure(const std::string& id) const;

  private:
    Layout layout_;
};

}  // namespace svc::lxc
