#pragma once
// Internal to this folder: the window's files. <directory>/<number of its first event>.events holds one event
// a line. `numbers` holds an upper bound of the numbers in use, written before a number above the earlier
// bound is used. `complete` says that the newest number in the files, or the one in `complete` itself, is the
// newest that was used; it holds for the boot of the machine that it names, or always ("clean").
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"
#include "libsvc/events/event_window.h"

namespace svc {

// For one thread at a time. When the disk fails, take_fault() says so and the caller goes on.
class EventLog {
  public:
    using Taker = std::function<void(Event)>;
    // Calls `take` with every event in the files, in order. Throws Error when they cannot be read.
    EventLog(const EventWindowOptions& options, const Taker& take);
    ~EventLog();  // syncs, so that the next process goes on with the next number
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    std::uint64_t last() const { return last_; }  // the next process's first number is higher
    void append(const Event& event);              // a write(), no sync: survives the process, not the machine
    void forget_before(std::uint64_t sequence);   // removes files whose events are all older
    std::string take_fault();

  private:
    struct Segment {
        std::uint64_t first;
        std::filesystem::path path;
    };
    void load(const Taker& take);
    std::uint64_t load_segment(const Segment& segment, const Taker& take);
    std::uint64_t first_number(std::uint64_t newest) const;
    void begin();
    void reserve();
    void open_segment(std::uint64_t first);
    void write(const Event& event);
    void fail(const std::string& reason);
    void sync();
    std::filesystem::path file(std::string_view name) const;

    const EventWindowOptions options_;
    std::string boot_id_;
    std::deque<Segment> segments_;  // oldest first; the last one is written to
    FileDescriptor open_;
    std::size_t open_bytes_ = 0, open_events_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t reserved_ = 0;
    bool failed_ = false;
    std::size_t until_retry_ = 0;
    std::string fault_;
    std::string line_;
};

}  // namespace svc
