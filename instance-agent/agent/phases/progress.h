#pragma once
// Which steps were done since the instance started, so that a restarted agent does not repeat them.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::agent {

// Kept in a file that is written at every change. One thread, one process at a time.
class Progress {
  public:
    // Begins empty when the file is of another start (see guest_start_key()) or is broken.
    Progress(std::filesystem::path file, const std::string& start_key);

    // Runs `work` unless it was done in this start. Work that was begun and did not finish, because it failed
    // or the agent died in it, is not retried: then this throws Error "<what> was interrupted".
    void once(const std::string& what, const std::function<void()>& work);
    void add_note(const std::string& note);  // sent with the report `running`; the same note counts once
    std::vector<std::string> notes() const;
    void finish();  // all steps are done
    bool finished() const;

  private:
    void save() const;

    std::filesystem::path file_;
    Json state_;
};

}  // namespace svc::agent
