#pragma once
// The agent's two sockets with the devices between them.
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "instance-agent/agent/agent_devices.h"
#include "instance-agent/agent/control/control_server.h"
#include "instance-agent/agent/logging/log_setting.h"
#include "instance-agent/agent/options.h"

namespace svc::agent {

// Serves from construction to destruction. Throws when a socket cannot be had (`busy`: another agent serves
// there), but not in an instance: there is more to do than to serve, and keep() tries again.
class Interfaces {
  public:
    Interfaces(const Options& options, bool in_instance);
    ~Interfaces();
    Interfaces(const Interfaces&) = delete;
    Interfaces& operator=(const Interfaces&) = delete;

    // Until `stop`: makes anew what vanished, for guests mount file systems over /run and /run/user/1000
    // while they boot.
    void keep(std::stop_token stop);
    // Once: what keep() does again and again. Thread-safe; what fails is logged.
    void refresh();

  private:
    void restore();
    void serve_control();
    void serve_guests();

    const Options options_;
    const bool links_;
    std::mutex refreshing_;
    std::string told_;  // the last failure
    MetricsRegistry metrics_;
    SystemClock clock_;
    LogSetting log_setting_;
    AgentDevices devices_;
    std::unique_ptr<ControlServer> control_;
    std::unique_ptr<GuestServer> guests_;
};

}  // namespace svc::agent
