#include "server/process/signals.h"

#include <malloc.h>
#include <systemd/sd-daemon.h>

#include <condition_variable>
#include <mutex>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "server/process/restart.h"

namespace svc::process {

namespace {

void run_reload(const std::function<void()>& reload) {
    sd_notify(0, "RELOADING=1");
    try {
        reload();
        log::info("log level and certificates were read again");
    } catch (const std::exception& e) {
        log::error("reload failed; everything stays as it was", {{"error", e.what()}});
    }
    sd_notify(0, "READY=1");
}

// The default action of both is the end of the process, whichever thread the kernel delivers them to.
void receive_ending_signals(const std::stop_token& stop) {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
}

}  // namespace

EndingSignals::EndingSignals() : thread_(receive_ending_signals) {}

void say(std::string_view program, std::string_view text) {
    std::cerr << std::string(program).append(": ").append(text).append("\n") << std::flush;
}

int exit_status_of(std::string_view program, int otherwise, const std::function<int()>& body) {
    try {
        return body();
    } catch (const Error& e) {
        say(program, e.what());
        return e.code() == ErrorCode::invalid_argument ? wrong_usage : otherwise;
    } catch (const std::exception& e) {
        say(program, e.what());
        return otherwise;
    }
}

Signals::Signals(std::initializer_list<int> taken) {
    sigemptyset(&signals_);
    for (const int signal : taken) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void Signals::serve(std::string_view program, const std::vector<std::string>& addresses,
                    const std::function<void()>& reload) const {
    std::string text = "ready";
    for (const std::string& address : addresses) text += " " + address;
    say(program, text);
    sd_notify(0, "READY=1");
    ::malloc_trim(0);  // of what was read at the start, the allocator would keep the pages
    int signal = 0;
    while (sigwait(&signals_, &signal) == 0 && signal == SIGHUP) run_reload(reload);
    end_restarts(signal);
    sd_notify(0, "STOPPING=1");
    log::info("stopping", {{"signal", std::to_string(signal)}});
}

}  // namespace svc::process
