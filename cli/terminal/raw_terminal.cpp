#include "cli/terminal/raw_terminal.h"

namespace svc::cli {

RawTerminal::RawTerminal(int fd) : fd_(fd) {
    if (fd_ < 0 || ::tcgetattr(fd_, &saved_) != 0) {
        fd_ = -1;
        return;
    }
    termios raw = saved_;
    ::cfmakeraw(&raw);
    ::tcsetattr(fd_, TCSANOW, &raw);
}

RawTerminal::~RawTerminal() {
    if (fd_ >= 0) ::tcsetattr(fd_, TCSADRAIN, &saved_);
}

}  // namespace svc::cli
