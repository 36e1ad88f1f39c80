// What the sockets of an exec session say, line by line: the first letter of a line says which, the rest is
// the message. Only signals and sizes that exist reach the thread of the command.
#include <cstdlib>
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/services/exec/exec_session.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::exec_control_target {

namespace {

struct World {
    SystemClock clock;
    SimulatedRuntime runtime{clock, {}};
    Timer timer{clock, "fuzz"};
};

void step(ExecSession& session, char stream, std::string text) {
    switch (stream) {
        case 'c':
            return session.take_text("control", text);
        case 't':
            return session.take_text("0", text);
        case 'd':
            return session.take_data("0", std::move(text));
        case 'o':
            return session.take_data("1", std::move(text));
        default:
            return;
    }
}

void check_orders(const ExecOrders& orders) {
    for (const int signal : orders.signals)
        if (signal < 1 || signal > 64) std::abort();
    if (orders.size && (orders.size->first > 65535 || orders.size->second > 65535)) std::abort();
}

}  // namespace

FUZZ_TARGET(exec_control)(const std::uint8_t* data, std::size_t size) {
    static World world;
    ExecSpec spec;
    spec.terminal = size % 2 == 0;
    const auto session =
        std::make_shared<ExecSession>(ExecSessionParts{world.runtime,
                                                       world.timer,
                                                       "c",
                                                       spec,
                                                       {{"0", "a"}, {"1", "b"}, {"2", "c"}, {"control", "d"}},
                                                       [](int) {},
                                                       [] {}});
    for_each_step(data, size, [&](char stream, std::string text) {
        step(*session, stream, std::move(text));
        check_orders(session->take_orders(true));
    });
    session->cancel();
    return 0;
}

}  // namespace svc::fuzz::exec_control_target
