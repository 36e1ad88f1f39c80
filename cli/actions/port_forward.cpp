#include "cli/actions/port_forward.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "cli/output/terminal_text.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/client/instance_tunnel.h"
#include "libsvc/net/socket/bind.h"

namespace svc::cli {
namespace {

constexpr std::string_view local_prefix = "unix:";
constexpr std::size_t connections_at_once = 64, most_waiting = 1024;

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Where the target begins in "LISTEN:TARGET"; npos: there is no LISTEN.
std::size_t target_of(const std::string& text) {
    const std::size_t local = text.find(":unix:");
    if (local != std::string::npos) return local + 1;
    const std::size_t colon = text.rfind(':');
    return colon == std::string::npos ? colon : colon + 1;
}

std::string listen_address(const std::string& text) {
    if (text.starts_with(local_prefix)) return text;
    if (text.empty()) return "127.0.0.1:0";
    return is_number(text) ? "127.0.0.1:" + text : text;
}

FileDescriptor listening(const PortForward& forward) {
    if (forward.listen.starts_with(local_prefix))
        return net::bind_unix(forward.listen.substr(local_prefix.size()), 0600, -1);
    return net::bind_tcp(forward.listen);
}

std::string address_of(const PortForward& forward, int socket) {
    return forward.listen.starts_with(local_prefix) ? forward.listen : net::local_address(socket);
}

// The signals that end the program, as a descriptor. Threads that are started later inherit the mask.
FileDescriptor ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    FileDescriptor signals(::signalfd(-1, &set, SFD_CLOEXEC));
    if (!signals) throw system_error("cannot wait for signals", errno);
    return signals;
}

// Ending takes as long as a manager that does not answer: whoever is impatient asks again.
void end_at_next_signal(int signals) {
    signalfd_siginfo first{};
    [[maybe_unused]] const ssize_t taken = ::read(signals, &first, sizeof first);
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        ::sigaddset(&set, signal);
        ::signal(signal, SIG_DFL);
    }
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// A connection takes six descriptors.
void allow_many_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

class Forwarder {
  public:
    Forwarder(Context& context, std::string instance) : context_(context), instance_(std::move(instance)) {}
    ~Forwarder() { stop_.request_stop(); }  // then the pool waits for the connections' threads
    Forwarder(const Forwarder&) = delete;
    Forwarder& operator=(const Forwarder&) = delete;

    // Returns where it listens.
    std::string listen(const PortForward& forward) {
        sockets_.push_back(listening(forward));
        targets_.push_back(forward.target);
        return address_of(forward, sockets_.back().get());
    }

    // Until `end` becomes readable.
    void run(int end) {
        std::vector<pollfd> polled{{end, POLLIN, 0}};
        for (const FileDescriptor& socket : sockets_) polled.push_back({socket.get(), POLLIN, 0});
        while (polled[0].revents == 0) {
            if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
                throw system_error("cannot wait for connections", errno);
            for (std::size_t i = 1; i < polled.size(); ++i)
                if (polled[i].revents != 0) accept(sockets_[i - 1].get(), targets_[i - 1]);
        }
    }

  private:
    void accept(int socket, const std::string& target) {
        const int accepted = ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
        const auto connection = std::make_shared<FileDescriptor>(accepted);
        if (!*connection) return wait_for_room(errno);
        const bool taken = connections_.post([this, connection, target] { join(*connection, target); });
        if (!taken) context_.console().print_error_line("Error: too many connections");
    }

    // Of descriptors. Until then the connection waits in the kernel.
    void wait_for_room(int number) {
        if (number != EMFILE && number != ENFILE) return;
        if (!std::exchange(told_, true))
            context_.console().print_error_line("Error: no more connections: too many open files");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }

    void join(const FileDescriptor& connection, const std::string& target) const try {
        if (stop_.stop_requested()) return;
        join_to_instance(context_.client(), instance_, target, connection, stop_.get_token());
    } catch (const std::exception& e) {
        context_.console().print_error_line(printable("Error: " + target + ": " + e.what()));
    }

    Context& context_;
    const std::string instance_;
    std::vector<FileDescriptor> sockets_;
    std::vector<std::string> targets_;
    bool told_ = false;
    std::stop_source stop_;
    ThreadPool connections_{"forward", connections_at_once, most_waiting};  // last: it uses all of the above
};

}  // namespace

PortForward parse_forward(const std::string& text) {
    const std::size_t at = target_of(text);
    if (at == std::string::npos && is_number(text)) return {"127.0.0.1:" + text, text};
    PortForward forward;
    if (at != std::string::npos) forward = {listen_address(text.substr(0, at - 1)), text.substr(at)};
    const bool has_target = is_number(forward.target) || forward.target.starts_with(local_prefix);
    if (!has_target || forward.listen == local_prefix)
        throw UsageError(quoted(text) + " is no forward: LOCAL:REMOTE, such as 8080:80, is");
    return forward;
}

struct BackgroundForward::Work {
    Work(Context& context, const std::string& instance, const std::string& target)
        : forwarder(context, instance), address(forwarder.listen({"127.0.0.1:0", target})) {
        if (!end) throw system_error("cannot forward", errno);
    }

    Forwarder forwarder;
    const std::string address;
    const FileDescriptor end{::eventfd(0, EFD_CLOEXEC)};
    std::thread thread;
};

BackgroundForward::BackgroundForward(Context& context, const std::string& instance, const std::string& target)
    : work_(std::make_unique<Work>(context, instance, target)) {
    work_->thread = std::thread([&work = *work_, &context] {
        try {
            work.forwarder.run(work.end.get());
        } catch (const std::exception& e) {
            context.console().print_error_line(printable(std::string("Error: ") + e.what()));
        }
    });
}

BackgroundForward::~BackgroundForward() {
    ::eventfd_write(work_->end.get(), 1);
    work_->thread.join();
}

const std::string& BackgroundForward::address() const {
    return work_->address;
}

int forward_ports(Context& context, const std::string& instance, const std::vector<PortForward>& forwards) {
    const FileDescriptor signals = ending_signals();
    allow_many_files();
    Forwarder forwarder(context, instance);
    for (const PortForward& forward : forwards)
        context.console().print_line(forwarder.listen(forward) + " -> " + forward.target);
    forwarder.run(signals.get());
    end_at_next_signal(signals.get());
    return 0;
}

}  // namespace svc::cli
