#pragma once
// A pseudo terminal that looks like the serial line of a GPS receiver, for gpsd and the like.
#include <filesystem>
#include <mutex>
#include <string>

#include "libsvc/base/file.h"

namespace svc::agent {

// One thread at a time, but for keep_links().
class GnssPty {
  public:
    // `link` is the device's name and replaces what was there; `second` is made where nothing else is in the
    // way, "" is none. Both are made anew when they vanish. Throws Error when there are no pseudo terminals.
    GnssPty(std::filesystem::path link, std::filesystem::path second);
    ~GnssPty();  // removes the links
    GnssPty(const GnssPty&) = delete;
    GnssPty& operator=(const GnssPty&) = delete;

    bool has_reader() const;  // somebody has it open
    // Never blocks: lines that a reader has no room for are dropped, but never part of one. What readers
    // write is thrown away.
    void feed(std::string_view lines);
    void idle();              // instead of feed() when there is nothing to tell
    void keep_links() const;  // makes them anew when they have vanished; any thread

  private:
    void flush_pending();
    void drain();

    FileDescriptor master_;
    std::filesystem::path device_;
    const std::filesystem::path link_, second_;
    mutable std::mutex linking_;  // both links are made beside their places first
    std::string pending_;         // the rest of lines that were taken in part
};

}  // namespace svc::agent
