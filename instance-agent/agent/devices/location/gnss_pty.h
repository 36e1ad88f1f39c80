#pragma once
// A pseudo terminal that stands in for the serial line of a GPS receiver; gpsd reads it.
#include <filesystem>
#include <mutex>
#include <string>

#include "libsvc/base/file.h"

namespace svc::agent {

// One thread at a time, except keep_links().
class GnssPty {
  public:
    // Makes two links to the terminal. `link` replaces any file of this name; `second` ("": none) replaces no
    // file. Throws Error when there are no pseudo terminals.
    GnssPty(std::filesystem::path link, std::filesystem::path second);
    ~GnssPty();  // removes the links
    GnssPty(const GnssPty&) = delete;
    GnssPty& operator=(const GnssPty&) = delete;

    bool has_reader() const;  // a program has the terminal open
    // Writes lines. Never blocks: whole lines are dropped when the reader does not keep up. Input of the
    // reader is dropped.
    void feed(std::string_view lines);
    void idle();              // called instead of feed() when there is no fix
    void keep_links() const;  // makes the links again when they have vanished; any thread

  private:
    void flush_pending();
    void drain();

    FileDescriptor master_;
    std::filesystem::path device_;
    const std::filesystem::path link_, second_;
    mutable std::mutex linking_;  // a link is made under another name, then renamed
    std::string pending_;         // the rest of a line of which the terminal took a part
};

}  // namespace svc::agent
