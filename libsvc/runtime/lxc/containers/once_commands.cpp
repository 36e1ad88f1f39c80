// Commands that run as the only program of a container, and taking its disk away: what happens to a container
// that does not run.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/engine.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc {

using lxc::HelperEvent;
using lxc::RunRecord;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds agent_start_limit{60'000};

enum class Outcome { ended, timed_out, stopped };

Outcome wait_for(int monitor, Duration limit, const std::stop_token& stop) {
    const FileDescriptor asked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!asked) throw system_error("cannot make an event descriptor", errno);
    const std::stop_callback on_stop(stop, [&] { ::eventfd_write(asked.get(), 1); });
    const auto deadline = lxc::deadline_after(std::chrono::ceil<milliseconds>(limit));
    for (;;) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
        std::array<pollfd, 2> waited{{{monitor, POLLIN, 0}, {asked.get(), POLLIN, 0}}};
        ::poll(waited.data(), waited.size(),
               static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000)));
        if (waited[0].revents != 0) return Outcome::ended;
        if (waited[1].revents != 0) return Outcome::stopped;
        if (left <= milliseconds::zero()) return Outcome::timed_out;
    }
}

}  // namespace

// The turn is not held while the command runs: whoever wants to start, stop or remove the container ends it.
int LxcRuntime::Engine::run_once(const std::string& id, const std::vector<std::string>& command,
                                 Duration limit, const std::stop_token& stop) {
    if (command.empty() || !command[0].starts_with('/'))
        throw Error(ErrorCode::invalid_argument, "command must begin with an absolute path");
    const std::string text = join(command, " ");
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, text + " was cancelled");
    const ContainerPtr container = require(id);
    const OncePtr once = begin_once(id, *container, command);
    const Outcome outcome =
        once->monitor ? wait_for(once->monitor.get(), limit, stop) : Outcome::ended;  // before we could look
    const Lock turn(container->turn);
    if (container->once != once) throw Error(ErrorCode::cancelled, text + " was cancelled");
    end_once(id, *container);
    if (outcome == Outcome::timed_out) throw Error(ErrorCode::unavailable, text + " timed out");
    if (outcome == Outcome::stopped) throw Error(ErrorCode::cancelled, text + " was cancelled");
    return once_result(id, text);
}

LxcRuntime::Engine::OncePtr LxcRuntime::Engine::begin_once(const std::string& id, LxcContainer& container,
                                                           const std::vector<std::string>& command) {
    const Lock turn(container.turn);
    if (!container.exists) throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
    check_readable(id, container);
    end_once(id, container);
    if (is_running(id, container)) throw Error(ErrorCode::busy, fmt::format("container '{}' is running", id));
    container.fresh = false;
    RunRecord run;
    run.once = true;
    if (const auto before = host_.read_run(id)) run.started_at = before->started_at;
    host_.write_run(id, run);  // first: a daemon after us must not take it for the guest
    Rollback undo;
    undo.add("command", [&] { settle(id, run); });
    host_.prepare(container.stored);
    std::vector<std::string> arguments = {"once", host_.layout().containers().native(), id,
                                          host_.layout().exit_file(id).native()};
    arguments.insert(arguments.end(), command.begin(), command.end());
    auto once = std::make_shared<lxc::Supervisor::Released>();
    {
        lxc::HelperProcess helper(host_.options().helper, std::move(arguments));
        const auto reply = helper.receive(agent_start_limit);
        if (!reply || reply->message.event != HelperEvent::running)
            throw Error(ErrorCode::internal, fmt::format("{} cannot be run in container '{}': {}", command[0],
                                                         id, host_.start_failure(id)));
        // Held before the helper goes: until then nobody can have reaped it.
        if (reply->message.monitor_pid != 0) once->monitor = open_pid(reply->message.monitor_pid);
        run.monitor = identify_process(reply->message.monitor_pid).value_or(ProcessId{});
        run.init = identify_process(reply->message.init_pid).value_or(ProcessId{});
    }  // the monitor is our child from here on
    once->init = open_process(run.init);
    once->run = run;
    host_.write_run(id, run);
    container.once = once;
    undo.dismiss();
    return once;
}

void LxcRuntime::Engine::end_once(const std::string& id, LxcContainer& container) {
    if (const OncePtr once = std::exchange(container.once, nullptr)) end(id, *once, {}, Duration::zero());
}

int LxcRuntime::Engine::once_result(const std::string& id, const std::string& command) {
    const auto status = host_.read_exit_status(id);
    if (!status)
        throw Error(ErrorCode::internal, command + " was lost: the monitor of the container was killed");
    if (!lxc::has_run(*status))
        throw Error(ErrorCode::internal, fmt::format("{} did not run in container '{}': {}", command, id,
                                                     host_.start_failure(id)));
    return lxc::exit_code_of(*status);
}

void LxcRuntime::Engine::capture(const std::string& name, const std::string& id,
                                 const std::vector<std::string>& leave_out) {
    const ContainerPtr container = find(id);
    if (!container && host_.layers().contains(name)) return;  // done, and the container has gone since
    if (!container) throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
    const Lock turn(container->turn);
    if (!container->exists) throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
    check_readable(id, *container);
    if (container->once || is_running(id, *container))
        throw Error(ErrorCode::busy, fmt::format("container '{}' is running", id));
    host_.capture(container->stored, name, leave_out);
}

}  // namespace svc
