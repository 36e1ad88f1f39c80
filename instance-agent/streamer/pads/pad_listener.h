#pragma once
// A program of the guest that has opened a gamepad.
#include <linux/input.h>
#include <time.h>

#include <array>
#include <functional>
#include <vector>

#include "libsvc/base/file.h"

namespace svc::streamer {

using PadEvents = std::vector<input_event>;  // ends with SYN_REPORT

// One thread. Nothing waits.
class PadListener {
  public:
    static constexpr int most_records = 1024;  // what it may write; the rest is not read

    using OnGrab = std::function<void(bool wanted)>;
    explicit PadListener(FileDescriptor connection);  // throws Error

    // Without room for all of them it is told that events were lost, as soon as there is room; until then it
    // gets none.
    void send(PadEvents events);
    // Reads what it has written, and tells it of lost events. False: it has gone, or it has broken a rule.
    bool serve(const OnGrab& on_grab);
    int fd() const { return connection_.get(); }
    short awaited() const;  // for poll()
    bool has_lost_events() const { return lost_; }

  private:
    bool has_gone() const;
    bool read(const OnGrab& on_grab);
    bool take(const input_event& record, const OnGrab& on_grab);
    void tell_of_loss();
    bool try_send(PadEvents& events);

    FileDescriptor connection_;
    clockid_t clock_ = CLOCK_REALTIME;
    bool lost_ = false;
    int records_ = 0;
    std::array<char, sizeof(input_event)> record_{};  // begun, not complete
    std::size_t have_ = 0;
};

}  // namespace svc::streamer
