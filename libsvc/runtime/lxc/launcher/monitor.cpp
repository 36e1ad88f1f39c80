#include "libsvc/runtime/lxc/launcher/monitor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>

#include "libsvc/base/failpoint.h"
#include "libsvc/runtime/lxc/helper/control.h"
#include "libsvc/runtime/lxc/launcher/boot.h"
#include "libsvc/runtime/lxc/launcher/console.h"
#include "libsvc/runtime/lxc/launcher/follow.h"
#include "libsvc/runtime/lxc/launcher/groups.h"
#include "libsvc/runtime/lxc/launcher/guest_network.h"
#include "libsvc/runtime/lxc/launcher/policy_namespace.h"

namespace svc::lxc {

namespace {

constexpr int never_ran = -1;

std::string container_name(const std::string& folder) {
    return folder.substr(folder.rfind('/') + 1);
}

// The runtime looks for a socket of this name: it says that a monitor runs.
Descriptor claim_name(const std::string& folder) {
    Descriptor socket(
        static_cast<int>(check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "cannot open a socket")));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text = folder + "/command";
    if (text.size() + 1 > sizeof name.sun_path) return socket;  // the runtime asks without it then
    std::memcpy(&name.sun_path[1], text.data(), text.size());
    check(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())),
          "another monitor of the container runs");
    return socket;
}

// Signals that a terminal or an administrator sends to many processes do not end containers.
void ignore_signals() {
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP})
        ::signal(signal, SIG_IGN);
}

void report(const Boot& boot, pid_t monitor) {
    HelperMessage message;
    message.event = HelperEvent::running;
    message.monitor_pid = monitor;
    message.init_pid = boot.init;
    message.agent_pid = boot.agent;
    if (!send_message(message)) return;  // the daemon has ended; the next one finds the container
}

class Monitor {
  public:
    Monitor(const MonitorStart& start, int answered)
        : start_(start),
          answered_(answered),
          plan_(parse_plan(read_text(AT_FDCWD, start.folder + "/config"))),
          name_(claim_name(start.folder)),
          log_(plan_.console_log, plan_.console_size) {}

    // The status of the last init.
    int run() {
        int status = never_ran;
        for (;;) {
            const PolicyNamespace policies(plan_.confinement);
            const Boot boot = boot_once();
            status = follow(boot, log_);
            ::unlink(init_file().c_str());
            if (!restarts_itself(status)) break;
            remove_rest();
        }
        run_stop_command(plan_.stop_command);
        return status;
    }
    const Plan& plan() const { return plan_; }

  private:
    std::string init_file() const { return start_.folder + "/init"; }

    Boot boot_once() {
        const Restrictions restrictions(plan_);
        const bool agent = start_.agent && !reported_;  // later ones are started by the runtime
        Boot made = boot({plan_, restrictions, agent, start_.command}, container_name(start_.folder));
        failpoint("launch.booted");
        if (!write_process_file(init_file().c_str(), made.init))
            throw LaunchFailure("cannot write the file of init");
        if (made.agent != 0) write_process_file((start_.folder + "/agent").c_str(), made.agent);
        failpoint("launch.init_recorded");
        if (!reported_) tell(made);
        return made;
    }
    void tell(const Boot& made) {
        reported_ = true;
        if (start_.command.empty() && ended_at_once(made)) return answered_.reset();
        report(made, ::getpid());
        ::close(control_fd);
        if (::write(answered_.get(), "", 1) == 1) answered_.reset();  // else nobody waits any more
        join_own_group();
    }

    // Of an init, for the next one.
    void remove_rest() const {
        if (plan_.network) remove_device_pair(*plan_.network);
        Groups::remove(plan_);
    }

    // Only now: nobody waits for it. The guest goes on where it cannot be done.
    void join_own_group() const {
        try {
            Groups::enter_monitor_group(plan_);
        } catch (const LaunchFailure& e) {
            log_failure(plan_.log, e.what());
        }
    }

    const MonitorStart& start_;
    Descriptor answered_;
    Plan plan_;
    Descriptor name_;
    ConsoleLog log_;
    bool reported_ = false;
};

}  // namespace

void log_failure(const std::string& file, const char* text) {
    std::FILE* log = std::fopen(file.c_str(), "ae");
    if (log == nullptr) return;
    std::fprintf(log, "lxc %lld ERROR launch - launch - %s\n", static_cast<long long>(std::time(nullptr)),
                 text);
    std::fclose(log);
}

void be_monitor(const MonitorStart& start, int answered) {
    int status = never_ran;
    std::string log = start.folder + "/lxc.log";
    ignore_signals();
    try {
        Monitor monitor(start, answered);
        if (!monitor.plan().log.empty()) log = monitor.plan().log;
        status = monitor.run();
    } catch (const std::exception& e) {
        log_failure(log, e.what());
    }
    failpoint("launch.monitor_ended");
    char line[32];
    std::snprintf(line, sizeof line, "%d\n", status);
    replace_file(start.exit_file.c_str(), line);
    ::_exit(0);
}

}  // namespace svc::lxc
