#include "instance-agent/agent/application/boot_target.h"

namespace svc::agent {

BootTarget boot_target(const AgentSession& session) {
    const InstanceConfig& launch = session.config;
    BootTarget target{launch.boot_package.empty() ? session.app.boot_package : launch.boot_package,
                      launch.boot_activity};
    if (target.activity.empty() && target.package == session.app.boot_package)
        target.activity = session.app.boot_activity;
    return target;
}

Watch watch_of(const AgentSession& session) {
    const AppSetup& app = session.app;
    const bool off = app.watchdog_disabled || session.config.disable_watchdog || session.config.devmode ||
                     (boot_target(session).package.empty() && app.watchdog_command.empty());
    return {!off, app.watchdog_allowed_packages, app.watchdog_command};
}

}  // namespace svc::agent
