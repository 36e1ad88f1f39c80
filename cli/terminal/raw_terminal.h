#pragma once
// A terminal that hands on every key as it is pressed.
#include <termios.h>

namespace svc::cli {

// Raw while alive; the destructor restores what was. fd -1: does nothing.
class RawTerminal {
  public:
    explicit RawTerminal(int fd);
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

  private:
    int fd_;
    termios saved_{};
};

}  // namespace svc::cli
