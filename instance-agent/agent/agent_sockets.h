#pragma once
// Serves the two sockets of the agent, control API and guest interface, and owns the devices behind them.
#include <memory>
#include <mutex>
#include <string>

#include "instance-agent/agent/agent_devices.h"
#include "instance-agent/agent/control/control_server.h"
#include "instance-agent/agent/guest/guest_server.h"
#include "instance-agent/agent/logging/log_setting.h"
#include "instance-agent/agent/options.h"

namespace svc::agent {

// Serves from construction to destruction. The constructor throws Error when a socket cannot be bound
// (`busy`: another agent serves there). With `in_instance` it logs the error instead, and refresh() tries
// again: an agent without sockets still has to report.
class AgentSockets {
  public:
    AgentSockets(const Options& options, bool in_instance);
    ~AgentSockets();
    AgentSockets(const AgentSockets&) = delete;
    AgentSockets& operator=(const AgentSockets&) = delete;

    // Binds sockets again that have vanished, and lets the devices make their files again: guests mount file
    // systems over /run and /run/user/1000 while they boot. Thread-safe. Failures are logged.
    void refresh();

  private:
    void restore();
    void serve_control();
    void serve_guests();

    const Options options_;
    const bool links_;
    std::mutex refreshing_;
    std::string told_;  // the failure that was logged last
    MetricsRegistry metrics_;
    SystemClock clock_;
    LogSetting log_setting_;
    AgentDevices devices_;
    std::unique_ptr<ControlServer> control_;
    std::unique_ptr<GuestServer> guests_;
};

}  // namespace svc::agent
