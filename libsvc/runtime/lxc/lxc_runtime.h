#pragma once
// The embedded runtime: unprivileged LXC containers on this machine. See docs/runtime.md.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

struct LxcOptions {
    std::filesystem::path state_dir;          // "<state>/lxc", absolute
    std::string bridge = "svcbr0";            // at most 15 characters; one per daemon
    std::string subnet = "192.168.100.1/20";  // the bridge's own address and prefix
    std::uint32_t bridge_mtu = 1500;
    std::filesystem::path agent;             // svc-agent on the host; empty: none is bound or started
    std::filesystem::path helper;            // the svc-lxc program
    std::filesystem::path agent_socket_dir;  // holds server.unix; empty: not bound
    std::uint32_t id_base = 0;               // first host id of all containers; 0: found out
    std::uint32_t id_count = 65536;
    std::string address;             // of private services; empty: of the default route's interface
    std::string public_address;      // of exposed services; empty: same as `address`
    std::uint32_t processes = 4096;  // limit of a container whose specification names none
};

// Thread-safe. The constructor makes the bridge and the rules, adopts the containers that are there and
// sweeps what a crash left half made; it makes the calling process a child subreaper, so that it can reap the
// containers' monitors. The destructor leaves the containers running.
//
// `agent` is copied into the state directory and bound at /var/lib/svc-agent/bin/svc-agent;
// `agent_socket_dir` is bound read-only at /var/lib/svc-agent/host. A socket in it must allow others (mode
// 0666), and every folder above it and above the state directory must let them pass (mode 0711): an
// instance's root is an ordinary user of the host.
class LxcRuntime final : public Runtime {
  public:
    LxcRuntime(LxcOptions options, const Clock& clock);
    ~LxcRuntime() override;
    LxcRuntime(const LxcRuntime&) = delete;
    LxcRuntime& operator=(const LxcRuntime&) = delete;

    LayerStore& layers();  // lives as long as the runtime
    // Removes the bridge, the rules and the empty control groups. Throws busy while a container exists.
    void tear_down();

    void create(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    std::vector<ContainerUsage> usage() override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::vector<LogFile> logs(std::string_view id) override;
    Capacity capacity() override;
    void on_event(std::function<void(const RuntimeEvent&)> listener) override;

  private:
    class Engine;
    std::unique_ptr<Engine> engine_;
};

}  // namespace svc
