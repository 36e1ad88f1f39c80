#include "instance-agent/agent/processes/program.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "instance-agent/agent/processes/program_output.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto farewell = 2s;  // between SIGTERM and SIGKILL

// Becomes readable when `stop` is requested.
class StopEvent {
  public:
    explicit StopEvent(std::stop_token stop)
        : event_(::eventfd(0, EFD_CLOEXEC)), callback_(std::move(stop), Raise{event_.get()}) {}
    int fd() const { return event_.get(); }

  private:
    struct Raise {
        int event;
        void operator()() const { ::eventfd_write(event, 1); }
    };
    FileDescriptor event_;
    std::stop_callback<Raise> callback_;
};

class Run {
  public:
    Run(const Program& program, BoundedFile& log, std::stop_token stop)
        : stop_(std::move(stop)), output_(log), child_(options_of(program)) {
        output_.started();
    }

    ProgramEnd run(Duration limit) {
        const StopEvent stop_event(stop_);
        ProgramEnd end;
        if (!pump(until(limit), stop_event.fd())) {
            end.stopped = stop_.stop_requested();
            end.timed_out = !end.stopped;
            end_group();
        }
        end.status = child_.wait();
        output_.take_rest();
        end.last_line = output_.last_line();
        if (end.succeeded()) output_.leave_reader();
        return end;
    }

  private:
    SpawnOptions options_of(const Program& program) const {
        SpawnOptions options;
        options.arguments = program.arguments;
        options.environment = program.environment;
        options.directory = program.directory;
        options.descriptors = {{output_.writing_end(), 1}, {output_.writing_end(), 2}};
        options.new_session = true;
        return options;
    }

    static steady_clock::time_point until(Duration limit) {
        return steady_clock::now() + std::min<Duration>(limit, 24h * 365);
    }

    static int poll_timeout(steady_clock::time_point deadline) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    }

    // True when the program has ended; false at the deadline or when `stop` was requested.
    bool pump(steady_clock::time_point deadline, int stop_event) {
        for (;;) {
            std::array<pollfd, 3> fds{
                {{child_.pidfd(), POLLIN, 0}, {output_.reading_end(), POLLIN, 0}, {stop_event, POLLIN, 0}}};
            const int ready = ::poll(fds.data(), fds.size(), poll_timeout(deadline));
            if (ready < 0 && errno != EINTR) throw system_error("cannot wait for a program", errno);
            if (ready > 0 && fds[1].revents != 0) output_.take_some();
            if (ready > 0 && fds[0].revents != 0) return true;
            if (ready > 0 && fds[2].revents != 0) return false;
            if (steady_clock::now() >= deadline) return false;
        }
    }

    // The program is reaped only here, so that its pid is still the number of its process group.
    void end_group() {
        ::kill(-child_.pid(), SIGTERM);
        pump(steady_clock::now() + farewell, -1);
        ::kill(-child_.pid(), SIGKILL);
        output_.kill_holders();
    }

    std::stop_token stop_;
    ProgramOutput output_;
    Child child_;
};

}  // namespace

std::string ProgramEnd::reason() const {
    std::string text = status.signal != 0 ? "killed by signal " + std::to_string(status.signal)
                                          : "exit status " + std::to_string(status.code);
    return last_line.empty() ? text : text + ": " + last_line;
}

ProgramEnd run_program(const Program& program, BoundedFile& output, std::stop_token stop) {
    return Run(program, output, std::move(stop)).run(program.limit);
}

}  // namespace svc::agent
