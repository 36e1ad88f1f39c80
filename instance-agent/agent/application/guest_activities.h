#pragma once
// The applications of an Android guest, as its own programs see them: am, cmd, dumpsys, pidof, pm.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instance-agent/agent/files/paths.h"

namespace svc::agent {

// Each call blocks for at most 20 s. Any thread. Throws unavailable where a program does not answer.
class GuestActivities {
  public:
    explicit GuestActivities(const Paths& paths) : paths_(paths) {}

    bool available() const;  // the guest has an activity manager
    // Brings an activity to the screen and waits until it is there; "": the one that the package's icon
    // stands for. Throws internal with what the guest says.
    void start(const std::string& package, const std::string& activity) const;
    bool is_installed(const std::string& package) const;
    bool has_process(const std::string& package) const;
    bool is_hanging(const std::string& package) const;
    std::string foreground() const;  // the package of the activity that the user sees; "": none

  private:
    std::string launcher_of(const std::string& package) const;
    // Output and exit code. Nothing: the guest has no such program.
    struct Answer {
        int code = 0;
        std::string output;
    };
    std::optional<Answer> ask(const char* program, const std::vector<std::string>& arguments) const;

    const Paths& paths_;
};

// Of `dumpsys activity activities`: "com.x" of "topResumedActivity=ActivityRecord{1f u0 com.x/.Main t7}".
std::string foreground_package(std::string_view activities);
// Of `dumpsys activity processes`.
bool is_not_responding(std::string_view processes, std::string_view package);

}  // namespace svc::agent
