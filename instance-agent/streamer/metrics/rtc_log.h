#pragma once
// The event log of a stream (platform item `rtc_log`): a file `rtc_log.<n>` beside the traces for each client
// while the item is on, a JSON object a line.
#include <filesystem>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"

namespace svc::streamer {

// One thread. What cannot be written is said once and ends the file.
class RtcLog {
  public:
    static constexpr std::size_t max_file = 8U
                                            << 20;  // bytes; beyond it nothing more of this client is noted
    static constexpr unsigned max_files = 20;       // the oldest one goes

    RtcLog(std::filesystem::path directory, Clock& clock);
    void enable(bool enabled);
    void note(const std::string& event, JsonMembers members = {});
    void end();  // of a client's stream: the next one has its own file

  private:
    void open();
    void remove_old() const;

    const std::filesystem::path directory_;
    Clock& clock_;
    bool enabled_ = false, begun_ = false;
    FileDescriptor file_;
    std::size_t written_ = 0;
};

}  // namespace svc::streamer
