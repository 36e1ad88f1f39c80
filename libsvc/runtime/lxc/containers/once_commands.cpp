#include "libsvc/runtime/lxc/containers/once_commands.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds command_start_limit{60'000};

enum class Outcome { ended, timed_out, stopped };

Outcome wait_for_command(int monitor, Duration limit, const std::stop_token& stop) {
    const FileDescriptor stop_requested(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_requested) throw system_error("cannot make an event descriptor", errno);
    const std::stop_callback on_stop(stop, [&] { ::eventfd_write(stop_requested.get(), 1); });
    const auto deadline = deadline_after(std::chrono::ceil<milliseconds>(limit));
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
        std::array<pollfd, 2> waited{{{monitor, POLLIN, 0}, {stop_requested.get(), POLLIN, 0}}};
        ::poll(waited.data(), waited.size(),
               static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
        if (waited[0].revents != 0) return Outcome::ended;
        if (waited[1].revents != 0) return Outcome::stopped;
        if (left <= milliseconds::zero()) return Outcome::timed_out;
    }
}

}  // namespace

int OnceCommands::run(const std::string& id, const std::vector<std::string>& command, Duration limit,
                      const std::stop_token& stop) {
    if (command.empty() || !command[0].starts_with('/'))
        throw Error(ErrorCode::invalid_argument, "command must begin with an absolute path");
    const std::string text = join(command, " ");
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, text + " was cancelled");
    const ContainerPtr container = containers_.get(id);
    const auto once = begin(id, *container, command);
    // Without a monitor the command had ended before its pid could be looked up.
    const Outcome outcome =
        once->monitor ? wait_for_command(once->monitor.get(), limit, stop) : Outcome::ended;
    const ContainerLock lock(container->mutex);
    if (container->once != once) throw Error(ErrorCode::cancelled, text + " was cancelled");
    runs_.end_once(id, *container);
    if (outcome == Outcome::timed_out) throw Error(ErrorCode::unavailable, text + " timed out");
    if (outcome == Outcome::stopped) throw Error(ErrorCode::cancelled, text + " was cancelled");
    return result(id, text);
}

std::shared_ptr<RunHandles> OnceCommands::begin(const std::string& id, Container& container,
                                                const std::vector<std::string>& command) {
    const ContainerLock lock(container.mutex);
    if (!container.exists) throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
    check_readable(id, container);
    runs_.end_once(id, container);
    if (runs_.is_running(id, container))
        throw Error(ErrorCode::busy, fmt::format("container '{}' is running", id));
    container.fresh = false;
    RunRecord run;
    run.once = true;
    if (const auto before = host_.records().read_run(id)) run.started_at = before->started_at;
    host_.records().write_run(id, run);  // first: a later daemon must not take the command for the guest
    Rollback undo;
    undo.add("command", [&] { runs_.container_end().record_stop(id, run); });
    host_.prepare(container.stored);
    failpoint("once.prepared");
    ContainerSpec connected = container.stored.spec;
    connected.forwards.clear();
    host_.connect(connected);
    auto once = std::make_shared<RunHandles>(start_helper(id, command, run));
    failpoint("once.started");
    run = once->run;
    host_.records().write_run(id, run);
    container.once = once;
    undo.dismiss();
    return once;
}

// When the helper ends, the monitor of the command becomes a child of this process.
RunHandles OnceCommands::start_helper(const std::string& id, const std::vector<std::string>& command,
                                      RunRecord run) {
    std::vector<std::string> arguments = {"once", host_.layout().containers().native(), id,
                                          host_.layout().exit_file(id).native()};
    arguments.insert(arguments.end(), command.begin(), command.end());
    RunHandles handles;
    {
        HelperProcess helper(host_.starting_helper(), std::move(arguments));
        const auto reply = helper.receive(command_start_limit);
        if (!reply || reply->message.event != HelperEvent::running)
            throw Error(ErrorCode::internal, fmt::format("{} cannot be run in container '{}': {}", command[0],
                                                         id, host_.records().start_failure(id)));
        // Opened while the helper lives: nobody can have reaped the monitor before.
        if (reply->message.monitor_pid != 0) handles.monitor = open_pid(reply->message.monitor_pid);
        run.monitor = identify_process(reply->message.monitor_pid).value_or(ProcessId{});
        run.init = identify_process(reply->message.init_pid).value_or(ProcessId{});
    }
    handles.init = open_process(run.init);
    handles.run = run;
    return handles;
}

int OnceCommands::result(const std::string& id, const std::string& command) const {
    const auto status = host_.records().read_exit_status(id);
    if (!status)
        throw Error(ErrorCode::internal, command + " was lost: the monitor of the container was killed");
    if (!has_run(*status))
        throw Error(ErrorCode::internal, fmt::format("{} did not run in container '{}': {}", command, id,
                                                     host_.records().start_failure(id)));
    return exit_code_of(*status);
}

}  // namespace svc::lxc
