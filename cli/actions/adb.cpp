#include "cli/actions/adb.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "cli/actions/port_forward.h"
#include "cli/actions/user_program.h"
#include "cli/output/terminal_text.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

// A terminal sends its signals to both programs, and adb decides what they mean, as with system(3).
class TerminalSignalsIgnored {
  public:
    TerminalSignalsIgnored()
        : interrupt_(std::signal(SIGINT, SIG_IGN)), quit_(std::signal(SIGQUIT, SIG_IGN)) {}
    ~TerminalSignalsIgnored() {
        std::signal(SIGINT, interrupt_);
        std::signal(SIGQUIT, quit_);
    }
    TerminalSignalsIgnored(const TerminalSignalsIgnored&) = delete;
    TerminalSignalsIgnored& operator=(const TerminalSignalsIgnored&) = delete;

  private:
    using Handler = void (*)(int);
    Handler interrupt_, quit_;
};

// adb's server keeps the connection for the commands that follow. adb tells a failure on standard output,
// with status 0.
class Connection {
  public:
    explicit Connection(std::string address) : address_(std::move(address)) {
        const std::string answer = tell("connect");
        if (answer.find("connected to") == std::string::npos)
            throw Error(ErrorCode::unavailable, "adb cannot connect: " + printable(answer));
    }
    ~Connection() {
        try {
            tell("disconnect");
        } catch (const Error&) {  // the server forgets it with the forward
        }
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

  private:
    // A file takes the output: adb's server, which the first command starts, may hold a pipe for ever.
    std::string tell(const std::string& word) const {
        const FileDescriptor output(::memfd_create("adb", MFD_CLOEXEC));
        if (!output) throw system_error("cannot keep the answer of adb", errno);
        if (!run_user_program({"adb", word, address_}, {{output.get(), 1}, {output.get(), 2}}))
            throw Error(ErrorCode::unavailable, "adb is not installed on this machine (package adb)");
        return std::string(trim(read_file("/proc/self/fd/" + std::to_string(output.get()))));
    }

    const std::string address_;
};

}  // namespace

int run_adb(Context& context, const std::string& instance, std::uint16_t port,
            const std::vector<std::string>& words) {
    const BackgroundForward forward(context, instance, std::to_string(port));
    const Connection connection(forward.address());
    std::vector<std::string> all{"adb", "-s", forward.address()};
    all.insert(all.end(), words.begin(), words.end());
    const TerminalSignalsIgnored ignored;
    return run_user_program(all, {{STDIN_FILENO, 0}, {STDOUT_FILENO, 1}, {STDERR_FILENO, 2}})
        .value_or(127);  // adb is there: that is its own status
}

}  // namespace svc::cli
