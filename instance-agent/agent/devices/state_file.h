#pragma once
// A small JSON object that a restarted agent finds again.
#include <filesystem>
#include <string>

#include "instance-agent/agent/paths.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// One writer at a time.
class StateFile {
  public:
    // `scope`: what was written under another one counts as absent.
    explicit StateFile(std::filesystem::path file, std::string scope = {});

    Json load() const;                   // an empty object when absent or broken
    void save(const Json& state) const;  // old or new, never half. Throws Error

  private:
    std::filesystem::path file_;
    std::string scope_;
};

// The scope of what ends with the instance: its present start. Empty where that cannot be told.
std::string this_start(const Paths& paths);

}  // namespace svc::agent
