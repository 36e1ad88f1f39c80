#pragma once
// The embedded runtime: unprivileged LXC containers on this machine (docs/runtime.md). The daemon never calls
// liblxc; the helper program svc-lxc does.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/runtime/lxc/containers/adoption.h"
#include "libsvc/runtime/lxc/containers/container_runs.h"
#include "libsvc/runtime/lxc/containers/container_table.h"
#include "libsvc/runtime/lxc/containers/once_commands.h"
#include "libsvc/runtime/lxc/host/host.h"
#include "libsvc/runtime/lxc/options.h"
#include "libsvc/runtime/lxc/usage/disk_usage.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. The constructor makes the bridge and the rules, adopts the containers that exist and removes
// what a crash left unfinished; it makes the calling process a child subreaper, so that it can reap the
// containers' monitors. The destructor leaves the containers running.
//
// `agent` is copied into the state directory and bound at /var/lib/svc-agent/bin/svc-agent;
// `agent_socket_dir` is bound read-only at /var/lib/svc-agent/host. A socket in it must allow others (mode
// 0666), and every folder above it and above the state directory must let them pass (mode 0711): an
// instance's root is an ordinary user of the host.
class LxcRuntime final : public Runtime {
  public:
    LxcRuntime(LxcOptions options, const Clock& clock);
    LxcRuntime(const LxcRuntime&) = delete;
    LxcRuntime& operator=(const LxcRuntime&) = delete;

    LayerStore& layers() { return host_.layers(); }      // owned by the runtime
    lxc::Network& network() { return host_.network(); }  // the same; for set_peers()
    // Removes the bridge, the rules and the empty control groups. Throws busy while a container exists.
    void tear_down();

    void create(const ContainerSpec& spec) override;
    void recreate_spec(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    void freeze(std::string_view id) override;
    void thaw(std::string_view id) override;
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    std::optional<ContainerSpec> specification(std::string_view id) override;
    std::vector<ContainerUsage> usage() override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::vector<LogFile> logs(std::string_view id) override;
    Capacity capacity() override { return host_.capacity(); }
    void forward_from(std::string_view, const std::string& public_address) override {
        host_.network().forward_from(public_address);
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override;

  private:
    using DeviceCounters = std::map<std::string, NetworkUsage, std::less<>>;

    // A layer was made of a container that has been removed since.
    bool was_made_before(const std::string& layer, const std::string& id);
    // Calls `use` with a container that does not run and is not started meanwhile. Throws not_found, busy,
    // unavailable for an unreadable one.
    void with_idle(const std::string& id, const std::function<void(const lxc::StoredSpec&)>& use);
    // Calls `use` with a container whose guest runs, locked. Throws not_found, conflict, unavailable.
    void with_running(const std::string& id, const std::function<void()>& use);
    // Both with the container locked.
    void replace_spec(lxc::Container& container, const ContainerSpec& spec);
    ContainerInfo describe(const std::string& id, const lxc::Container& container) const;
    ContainerUsage usage_of(const std::string& id, lxc::Container& container, const DeviceCounters& devices);

    lxc::Host host_;
    lxc::ContainerTable containers_;
    lxc::DiskUsage disk_usage_;
    lxc::ContainerRuns runs_;  // has a thread that uses all above
    lxc::OnceCommands once_commands_;
    lxc::Adoption adoption_;  // last: has a thread that uses all above
};

}  // namespace svc
