#include "cli/actions/exec_in_instance.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "cli/actions/object_lookup.h"
#include "cli/terminal/raw_terminal.h"
#include "libsvc/base/file.h"
#include "libsvc/client/remote_exec.h"

namespace svc::cli {
namespace {

enum ExecStatus { connection_lost = 124, not_run = 125 };

constexpr std::array forwarded_signals{SIGTERM, SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGTSTP, SIGTTIN,
                                       SIGTTOU, SIGUSR1, SIGUSR2, SIGSEGV, SIGCONT, SIGWINCH};

// While it lives, signals are read from a descriptor. Threads that are started meanwhile inherit the mask.
class SignalSource {
  public:
    SignalSource() {
        sigset_t set;
        ::sigemptyset(&set);
        for (const int signal : forwarded_signals) ::sigaddset(&set, signal);
        ::pthread_sigmask(SIG_BLOCK, &set, &old_);
        descriptor_ = FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC));
    }
    ~SignalSource() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
    SignalSource(const SignalSource&) = delete;
    SignalSource& operator=(const SignalSource&) = delete;
    int descriptor() const { return descriptor_.get(); }
    int next() const {
        signalfd_siginfo info{};
        return ::read(descriptor_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                                            : 0;
    }

  private:
    sigset_t old_{};
    FileDescriptor descriptor_;
};

// Wakes all threads that wait for a descriptor; stays raised.
class StopEvent {
  public:
    StopEvent() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {}
    void raise() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(descriptor_.get(), &one, sizeof one);
    }
    // True when `fd` is readable (or at its end), false when the stop was raised.
    bool wait_for(int fd) const {
        pollfd both[] = {{descriptor_.get(), POLLIN, 0}, {fd, POLLIN, 0}};
        while (::poll(both, 2, -1) < 0 && errno == EINTR) {
        }
        return both[0].revents == 0;
    }

  private:
    FileDescriptor descriptor_;
};

void forward_input(RemoteExec& session, const StopEvent& stop, int fd) {
    std::string block(128U << 10, '\0');
    try {
        while (stop.wait_for(fd)) {
            const ssize_t got = ::read(fd, block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return session.end_input();
            session.send_input(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
        }
    } catch (const Error&) {
        // The command does not read its input any more; the loop goes on until its exit status comes.
    }
}

void forward_signals(RemoteExec& session, const StopEvent& stop, const SignalSource& signals,
                     const Console& console, bool interactive) {
    while (stop.wait_for(signals.descriptor())) {
        const int signal = signals.next();
        if (signal == SIGWINCH) {
            const Size size = console.terminal_size();
            if (interactive) session.resize(size.width, size.height);
        } else if (signal != 0) {
            session.send_signal(signal);
        }
    }
}

RemoteExecResult run_session(RemoteExec& session, const Console& console, bool interactive) {
    const SignalSource signals;
    const RawTerminal raw(interactive ? console.in() : -1);
    const StopEvent stop;
    std::jthread input([&] { forward_input(session, stop, console.in()); });
    std::jthread control([&] { forward_signals(session, stop, signals, console, interactive); });
    struct Release {
        RemoteExec& session;
        const StopEvent& stop;
        ~Release() {
            stop.raise();
            session.abort();  // ends a thread that blocks in a send
        }
    } release{session, stop};
    return session.run([&](int stream, std::string_view data) {
        if (stream == 2)
            console.print_error(data);
        else
            console.print(data);
    });
}

int status_of(const RemoteExecResult& result, const Console& console) {
    if (result.lost) {
        console.print_error_line("Error: the connection was lost");
        return connection_lost;
    }
    if (!result.error.empty()) console.print_error_line("Error: " + result.error);
    return result.status.value_or(not_run);
}

}  // namespace

int run_in_instance(Context& context, const std::string& instance, ExecRequest request) {
    return run_in_instance(context, instance, std::move(request), context.console());
}

int run_in_instance(Context& context, const std::string& instance, ExecRequest request,
                    const Console& console) {
    const Size size = console.terminal_size();
    request.width = size.width;
    request.height = size.height;
    std::unique_ptr<RemoteExec> session;
    try {
        const std::string id = instance_named(context.client(), instance);
        session = std::make_unique<RemoteExec>(context.client(), id, request);
    } catch (const UsageError&) {
        throw;
    } catch (const Error& e) {
        const bool reached = e.code() != ErrorCode::unavailable;
        console.print_error_line("Error: " + (reached ? e.what() : context.explain_unreachable(e.what())));
        return not_run;
    }
    return status_of(run_session(*session, console, request.interactive), console);
}

}  // namespace svc::cli
