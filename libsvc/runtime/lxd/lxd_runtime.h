#pragma once
// The second engine: containers as instances of an LXD on this machine (docs/runtime-lxd.md).
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/runtime/lxc/host/cgroups.h"
#include "libsvc/runtime/lxc/network/network.h"
#include "libsvc/runtime/lxd/connection.h"
#include "libsvc/runtime/lxd/events.h"
#include "libsvc/runtime/lxd/images.h"
#include "libsvc/runtime/lxd/instances.h"
#include "libsvc/runtime/lxd/options.h"

namespace svc {

// Thread-safe. The constructor makes the bridge and the rules, adopts what runs and ends what a crash left
// unfinished; it throws unavailable where LXD does not answer, forbidden where it does not trust us. The
// destructor leaves the containers running.
class LxdRuntime final : public Runtime {
  public:
    LxdRuntime(LxdOptions options, Clock& clock);
    LxdRuntime(const LxdRuntime&) = delete;
    LxdRuntime& operator=(const LxdRuntime&) = delete;

    LayerStore& layers() { return layers_; }      // owned by the runtime
    lxc::Network& network() { return network_; }  // the same; for set_peers()
    void tear_down();                             // throws busy while a container exists

    void create(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    void freeze(std::string_view id) override { set_frozen(id, true); }
    void thaw(std::string_view id) override { set_frozen(id, false); }
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    std::optional<ContainerSpec> specification(std::string_view id) override;
    std::vector<ContainerUsage> usage() override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::vector<LogFile> logs(std::string_view id) override;
    Capacity capacity() override;
    std::vector<RuntimeNode> nodes() override;
    void forward_from(std::string_view, const std::string& public_address) override {
        network_.forward_from(public_address);
    }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override;
    void on_nodes_changed(std::function<void()> listener) override;

  private:
    // What this daemon knows of a container; `mutex` is held while it changes.
    struct Known {
        std::mutex mutex;
        bool running = false;             // started, and nobody has stopped it
        bool stopping = false;            // by a call
        std::atomic<bool> frozen{false};  // as LXD has told last; read without the lock
        FileDescriptor init;              // pidfd
        pid_t init_pid = 0;
        std::stop_source once;  // ends the command that runs alone
    };
    using KnownPtr = std::shared_ptr<Known>;

    KnownPtr known(std::string_view id);
    std::vector<ContainerInfo> listed();  // throws what LXD says
    std::vector<ContainerInfo> remembered() const;
    void adopt();
    void renew(const lxd::Instance& instance);
    void note_run(const std::string& id, Known& known);
    void note_restart(const lxd::Instance& instance, Known& known);
    void start_agent(const std::string& id);
    void set_frozen(std::string_view id, bool frozen);
    void end_run(const lxd::Instance& instance, Known& known, Duration grace);
    void end_once(const lxd::Instance& instance, Known& known);
    int await_command(const std::string& operation, Duration limit, const std::stop_token& stop);
    void look(const std::string& name);
    void check_member();
    void tell_nodes_changed();
    void note_change(const std::string& name);
    void look_at(const std::string& id);
    ContainerInfo describe(const lxd::Instance& instance);
    lxc::ConnectedContainer connected(const ContainerSpec& spec) const;

    const LxdOptions options_;
    Clock& clock_;
    const lxc::CgroupLayout cgroups_;
    lxd::Connection lxd_;
    lxd::Instances instances_;
    lxc::Network network_;
    lxd::Images layers_;
    Guarded<std::map<std::string, KnownPtr, std::less<>>> known_;  // every container of this machine
    Guarded<Capacity> last_capacity_;                              // for while LXD does not answer
    Guarded<std::shared_ptr<const std::function<void(const RuntimeEvent&)>>> listener_;
    Guarded<std::shared_ptr<const std::function<void()>>> nodes_listener_;
    std::unique_ptr<lxd::EventFeed> events_;  // last: has a thread that uses all above
};

}  // namespace svc
