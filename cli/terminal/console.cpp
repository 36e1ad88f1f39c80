#include "cli/terminal/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "libsvc/base/error.h"

namespace svc::cli {
namespace {

void write_whole(int fd, std::string_view text, std::string_view what) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            std::signal(SIGPIPE, SIG_DFL);
            std::raise(SIGPIPE);
            return;
        } else if (errno != EINTR) {
            throw system_error(what, errno);
        }
    }
}

}  // namespace

void Console::print(std::string_view text) const {
    write_whole(out_, text, "standard output");
}

void Console::print_line(std::string_view text) const {
    print(std::string(text) + "\n");
}

void Console::print_error(std::string_view text) const {
    write_whole(err_, text, "standard error");
}

void Console::print_error_line(std::string_view text) const {
    print_error(std::string(text) + "\n");
}

std::optional<std::string> Console::read_line() const {
    // Reads byte by byte: the bytes behind the line belong to the next reader of a shared pipe.
    std::string line;
    char c = 0;
    while (true) {
        const ssize_t got = ::read(in_, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error("standard input", errno);
        if (got == 0 && line.empty()) return std::nullopt;
        if (got == 0 || c == '\n') return line;
        line.push_back(c);
    }
}

bool Console::in_is_terminal() const {
    return ::isatty(in_) != 0;
}
bool Console::out_is_terminal() const {
    return ::isatty(out_) != 0;
}
bool Console::err_is_terminal() const {
    return ::isatty(err_) != 0;
}

Size Console::terminal_size() const {
    winsize size{};
    for (const int fd : {out_, err_, in_})
        if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
            return {size.ws_col, size.ws_row};
    return {};
}

}  // namespace svc::cli
