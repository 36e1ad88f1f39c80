#pragma once
// A terminal in raw mode: programs get every key as it is pressed.
#include <termios.h>

namespace svc::cli {

// Sets raw mode; the destructor restores the earlier mode. fd -1: does nothing.
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
