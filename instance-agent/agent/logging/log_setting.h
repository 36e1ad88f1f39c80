#pragma once
// How much the agent logs, under the names of the control API, kept across restarts.
#include <filesystem>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"

namespace svc::agent {

// trace, debug, info, warning, error, fatal; else invalid_argument "Invalid log level '<name>'".
log::Level log_level_of(const std::string& name);

// Thread-safe.
class LogSetting {
  public:
    // Takes what was set before, unless `given` names a level: "" does not. Throws invalid_argument for a
    // name that is none.
    LogSetting(std::filesystem::path file, const std::string& given);

    std::string name() const;
    // Throws as log_level_of() does. Where it cannot be kept, it holds until the agent ends.
    void set(const std::string& name);

  private:
    const std::filesystem::path file_;
    Guarded<std::string> name_;
};

}  // namespace svc::agent
