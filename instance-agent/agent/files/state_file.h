#pragma once
// A small JSON object in a file, which survives a restart of the agent.
#include <filesystem>
#include <string>

#include "libsvc/base/json.h"

namespace svc::agent {

// One writer at a time.
class StateFile {
  public:
    // A state that was saved under another `scope` counts as absent. Devices use guest_start_key() for state
    // that ends with the instance's present start.
    explicit StateFile(std::filesystem::path file, std::string scope = {});

    Json load() const;                   // an empty object when absent or broken
    void save(const Json& state) const;  // atomic: the file has the old state or the new one. Throws Error

  private:
    std::filesystem::path file_;
    std::string scope_;
};

}  // namespace svc::agent
