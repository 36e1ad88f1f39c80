#pragma once
// The agent's log level, by the names of the control API. It survives a restart of the agent.
#include <filesystem>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"

namespace svc::agent {

// The level of trace, debug, info, warning, error or fatal. Throws invalid_argument "Invalid log level
// '<name>'" for any other name.
log::Level log_level_of(const std::string& name);

// Thread-safe.
class LogSetting {
  public:
    // Takes the level that was set before, unless `given` (the command line) names one; "" names none. Throws
    // invalid_argument for an unknown name.
    LogSetting(std::filesystem::path file, const std::string& given);

    std::string name() const;
    // Throws what log_level_of() throws. When the file cannot be written, the level holds until the agent
    // ends.
    void set(const std::string& name);

  private:
    const std::filesystem::path file_;
    Guarded<std::string> name_;
};

}  // namespace svc::agent
