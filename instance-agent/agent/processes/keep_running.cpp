#include "instance-agent/agent/processes/keep_running.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr const char* keep_running_usage =
    "usage: svc-agent keep-running --log FILE -- PROGRAM [ARGUMENT...]\n"
    "Starts a program that lives on when this ends, and again when it fails. Its output goes to FILE.\n";
constexpr std::uint64_t log_bytes = 512U << 10;
constexpr Duration first_keep_pause = 1s, longest_keep_pause = 30s, good_while = 1min;

[[noreturn]] void refuse_arguments(const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message);
}

KeptProgram parse(const std::vector<std::string>& words) {
    if (words.size() < 4 || words[0] != "--log" || words[2] != "--")
        refuse_arguments("--log FILE and, after --, a program are needed");
    KeptProgram program{std::filesystem::absolute(words[1]), {words.begin() + 3, words.end()}};
    if (program.arguments[0].empty() || program.arguments[0][0] != '/')
        refuse_arguments("program " + quoted(program.arguments[0]) + " is not an absolute path");
    if (::access(program.arguments[0].c_str(), X_OK) != 0)
        throw system_error("cannot run program " + quoted(program.arguments[0]), errno);
    return program;
}

// A lock on the lock file, which the keeper of a program holds as long as it lives. Empty: another keeper
// holds it.
FileDescriptor take_lock(const std::filesystem::path& log) {
    make_directories(log.parent_path());
    const std::filesystem::path path = log.string() + ".lock";
    FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock) throw system_error("cannot open " + quoted(path.string()), errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    if (errno != EWOULDBLOCK) throw system_error("cannot lock " + quoted(path.string()), errno);
    return {};
}

// Closes every descriptor of the parent but the lock, so that no reader of the parent's output waits for this
// process.
void leave_caller(int lock) {
    ::setsid();
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; ++i) ::dup2(nothing, i);
    ::close_range(3, static_cast<unsigned>(lock) - 1, 0);
    ::close_range(static_cast<unsigned>(lock) + 1, UINT_MAX, 0);
}

int keep_until_told(const KeptProgram& program) {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGPWR}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    std::stop_source stop;
    std::jthread listener([&] {
        int number = 0;
        ::sigwait(&signals, &number);
        stop.request_stop();
    });
    SystemClock clock;
    keep_running(program, our_environment(), clock, stop.get_token());
    ::kill(::getpid(), SIGTERM);  // ends the thread that waits for signals
    return 0;
}

int start(const KeptProgram& program) {
    FileDescriptor lock = take_lock(program.log);
    if (!lock) return 0;
    const pid_t child = ::fork();
    if (child < 0) throw system_error("cannot start a process", errno);
    if (child > 0) return 0;
    leave_caller(lock.get());
    int result = 1;
    try {
        result = keep_until_told(program);
    } catch (const std::exception&) {
        result = 1;  // stdout or stderr is closed
    }
    ::_exit(result);
}

void note(BoundedFile& log, Clock& clock, const std::string& text) try {
    log.append("--- " + to_rfc3339(clock.now()) + " " + text + "\n");
} catch (const std::exception&) {
    return;  // a full disk does not stop the program
}

std::string failure(const std::string& name, const std::string& reason, Duration pause) {
    return name + " failed: " + reason + "; again in " + format_duration(pause);
}

}  // namespace

std::vector<std::string> our_environment() {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    return environment;
}

void keep_running(const KeptProgram& program, const std::vector<std::string>& environment, Clock& clock,
                  std::stop_token stop) {
    BoundedFile log(program.log, log_bytes);
    const std::string name = std::filesystem::path(program.arguments[0]).filename();
    for (Duration pause = first_keep_pause; !stop.stop_requested();) {
        const SteadyTime began = clock.steady_now();
        note(log, clock, name + " starts");
        std::string reason;
        try {
            const ProgramEnd end =
                run_program({program.arguments, environment, "/", Duration::max()}, log, stop);
            if (end.stopped || end.succeeded()) return note(log, clock, name + " has ended");
            reason = end.reason();
        } catch (const std::exception& e) {
            reason = e.what();
        }
        if (clock.steady_now() - began >= good_while) pause = first_keep_pause;
        note(log, clock, failure(name, reason, pause));
        clock.wait(stop, pause);
        pause = std::min(pause * 2, longest_keep_pause);
    }
}

int run_keep_running(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--help"}) return std::fputs(keep_running_usage, stdout), 0;
    return start(parse(words));
}

}  // namespace svc::agent
