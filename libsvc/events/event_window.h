#pragma once
// The window: the newest events, in memory for replays, in files for the next process.
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>

#include "libsvc/events/event.h"

namespace svc {

struct EventWindowOptions {
    std::filesystem::path directory{};  // "": in memory alone, numbers begin with 1
    std::size_t max_events = 10'000;
    std::size_t max_bytes = std::size_t{16} << 20U;  // of rendered text
    // Differs from one boot of the machine to the next; "": the kernel's boot id.
    std::string boot_id{};
};

class EventLog;

// For one thread at a time. add() does not throw when the disk fails: take_fault() tells.
class EventWindow {
  public:
    explicit EventWindow(EventWindowOptions options);  // reads the directory; throws Error
    ~EventWindow();                                    // all is on disk then
    std::uint64_t last() const { return last_; }       // the newest number in use
    std::uint64_t newest() const { return events_.empty() ? 0 : events_.back().sequence; }
    void raise(std::uint64_t last);  // the next number is higher than `last`
    const std::deque<Event>& events() const { return events_; }
    void add(Event event);     // the event's number is higher than newest()
    std::string take_fault();  // why the files cannot be written, once; else ""

  private:
    void keep(Event event);
    void trim();

    EventWindowOptions options_;
    std::deque<Event> events_;
    std::size_t bytes_ = 0;
    std::uint64_t last_ = 0;
    std::unique_ptr<EventLog> log_;  // null: in memory alone
};

}  // namespace svc
