#include "instance-agent/agent/processes/program_output.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::size_t piece_bytes = 64U << 10;
constexpr std::size_t tail_bytes = 4096;
constexpr std::size_t rest_bytes = 1U << 20;
constexpr std::size_t line_bytes = 200;

bool holds(const std::filesystem::path& process, const std::string& pipe) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(process / "fd", ignored))
        if (std::filesystem::read_symlink(entry.path(), ignored) == pipe) return true;
    return false;
}

// Length of the well-formed UTF-8 sequence that `text` starts with; 0 when it starts with none.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80   ? 1
                               : byte(0) < 0xc2 ? 0
                               : byte(0) < 0xe0 ? 2
                               : byte(0) < 0xf0 ? 3
                               : byte(0) < 0xf5 ? 4
                                                : 0;
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0U) != 0x80) return 0;
    if (length == 3 && ((byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f))) return 0;
    if (length == 4 && ((byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f))) return 0;
    return length;
}

std::string sanitised(std::string_view line) {
    std::string result;
    while (!line.empty()) {
        const std::size_t length = sequence_length(line);
        if (result.size() + std::max<std::size_t>(length, 1) > line_bytes) break;
        const bool control = static_cast<unsigned char>(line[0]) < 0x20 || line[0] == 0x7f;
        if (length == 0)
            result += '?';
        else if (control)
            result += ' ';
        else
            result.append(line.substr(0, length));
        line.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return std::string(trim(result));
}

// In a fork of a threaded process: system calls only.
[[noreturn]] void read_until_closed(int pipe) {
    ::setsid();
    ::dup2(pipe, 0);
    ::close_range(1, UINT_MAX, 0);
    ::fcntl(0, F_SETFL, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    char bytes[4096];
    for (;;) {
        const ssize_t got = ::read(0, bytes, sizeof bytes);
        if (got == 0 || (got < 0 && errno != EINTR)) ::_exit(0);
    }
}

}  // namespace

ProgramOutput::ProgramOutput(BoundedFile& log) : log_(log) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    read_ = FileDescriptor(ends[0]);
    write_ = FileDescriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

bool ProgramOutput::take_piece() {
    std::array<char, piece_bytes> bytes;
    const ssize_t got = read_ ? ::read(read_.get(), bytes.data(), bytes.size()) : 0;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) return read_.reset(), false;
    const std::string_view piece(bytes.data(), static_cast<std::size_t>(got));
    tail_.append(piece);
    if (tail_.size() > tail_bytes) tail_.erase(0, tail_.size() - tail_bytes);
    try {
        log_.append(piece);
    } catch (const std::exception&) {
        return true;  // a full disk is the program's to notice
    }
    return true;
}

void ProgramOutput::take_some() {
    take_piece();
}

void ProgramOutput::take_rest() {
    for (std::size_t taken = 0; taken < rest_bytes && take_piece(); taken += piece_bytes) continue;
}

void ProgramOutput::kill_holders() const {
    struct stat pipe {};
    if (!read_ || ::fstat(read_.get(), &pipe) != 0) return;
    const std::string name = "pipe:[" + std::to_string(pipe.st_ino) + "]";
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        if (std::stol(pid) != ::getpid() && holds(entry.path(), name))
            ::kill(static_cast<pid_t>(std::stol(pid)), SIGKILL);
    }
}

void ProgramOutput::leave_reader() {
    if (!read_) return;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::fork() == 0) read_until_closed(read_.get());
        ::_exit(0);  // so that the reader belongs to init
    }
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    read_.reset();
}

std::string ProgramOutput::last_line() const {
    const std::string_view text = trim(tail_);
    const std::size_t end_of_line = text.find_last_of("\r\n");
    return sanitised(end_of_line == std::string_view::npos ? text : text.substr(end_of_line + 1));
}

}  // namespace svc::agent
