#pragma once
// The event log of a stream (platform item `rtc_log`): a file `rtc_log.<n>` beside the traces for each client
// while the item is on, a JSON object a line.
#include <filesystem>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"

namespace svc::streamer {

// One thread. A write error is logged once and ends the file.
class RtcLog {
  public:
    static constexpr std::size_t max_file = 8U << 20;  // bytes; later events of this client are dropped
    static constexpr unsigned max_files = 20;          // the oldest file is removed

    RtcLog(std::filesystem::path directory, Clock& clock);
    void enable(bool enabled);
    void note(const std::string& event, JsonMembers members = {});
    void end();  // ends the file: the next client's stream has its own

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
