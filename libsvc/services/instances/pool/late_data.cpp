#include "libsvc/services/instances/pool/late_data.h"

#include <poll.h>

#include <cerrno>
#include <memory>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc {

namespace {

constexpr const char* agent = "/var/lib/svc-agent/bin/svc-agent";
constexpr int limit_ms = 10'000;

[[noreturn]] void throw_untold(const std::string& reason) {
    throw Error(ErrorCode::internal, "guest cannot be told its name and user data: " + reason);
}

void await_end(const ExecProcess& process) {
    pollfd ended{process.ended(), POLLIN, 0};
    int ready = 0;
    while ((ready = ::poll(&ended, 1, limit_ms)) < 0 && errno == EINTR) {
    }
    if (ready == 0) throw Error(ErrorCode::unavailable, "guest did not take its user data within 10 s");
}

}  // namespace

// User data is small enough for the buffer of any pipe: writing it waits for nothing.
void tell_guest(Runtime& runtime, const Instance& instance) {
    const auto process = runtime.exec(instance.id.str(),
                                      {.command = {agent, "take-over", instance.name()}, .environment = {}});
    write_all(process->input(), *instance.user_data);
    process->close_input();
    await_end(*process);
    const int code = process->exit_code();
    if (process->exec_failed()) throw_untold("it has no agent");
    if (code != 0) throw_untold("svc-agent ended with status " + std::to_string(code));
}

}  // namespace svc
