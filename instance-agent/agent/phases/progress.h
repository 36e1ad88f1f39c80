#pragma once
// What has been done since the instance started, so that an agent that was restarted does nothing twice.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "instance-agent/agent/paths.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// One start of the instance's first process.
struct GuestStart {
    std::string key;  // of this start alone, on this boot of the machine
    Duration age{};
};
GuestStart guest_start(const Paths& paths);

// Kept in a file that is written with every change. One thread, one process at a time.
class Progress {
  public:
    // Starts anew when the file tells of another start, or is broken.
    Progress(std::filesystem::path file, const std::string& start_key);

    // Runs `work` unless it was done in this start. Work that was begun and not finished, because it failed
    // or the agent died in it, is not tried again: throws Error "<what> was interrupted".
    void once(const std::string& what, const std::function<void()>& work);
    void add_note(const std::string& note);  // told with the report `running`; the same one twice is one
    std::vector<std::string> notes() const;
    void finish();  // nothing is left to do
    bool finished() const;

  private:
    void save() const;

    std::filesystem::path file_;
    Json state_;
};

}  // namespace svc::agent
