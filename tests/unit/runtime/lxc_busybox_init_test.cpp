#include <sys/syscall.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <string>

#include <fmt/format.h>

#include "libsvc/runtime/lxc/processes/busybox_init.h"

using svc::lxc::InitState;
using svc::lxc::is_asleep_at_end;

namespace {

std::string status_with(const std::string& name, int signal) {
    std::string status = "Name:\tinit\n";
    for (const char* line : {"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"})
        status += fmt::format("{}:\t{:016x}\n", line, name == line ? 1U << (signal - 1) : 0U);
    return status;
}

const std::string sleeping = std::to_string(SYS_clock_nanosleep) + " 0x0 0x0 0x7ffe 0x0 0x0 0x0 0x7ffd 0x5\n";
const std::string command("init\0\0\0\0\0", 9);

}  // namespace

TEST_CASE("busybox's init that sleeps after it was asked to halt is recognised") {
    const std::string status = status_with("SigCgt", SIGHUP);
    CHECK(is_asleep_at_end(InitState{"/bin/busybox", command, status, sleeping}));
    CHECK(
        is_asleep_at_end(InitState{"/bin/busybox", command, status, std::to_string(SYS_nanosleep) + " 0x0"}));
    CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox (deleted)", command, status, sleeping}));
    CHECK_FALSE(is_asleep_at_end(InitState{"/lib/systemd/systemd", command, status, sleeping}));
    CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox", {"/bin/sh\0/sbin/init", 18}, status, sleeping}));
    CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox", {"initial\0", 8}, status, sleeping}));
    for (const std::string& call : {std::to_string(SYS_wait4) + " 0x0", std::string("running"), std::string(),
                                    std::string("-1 0x7ffd 0x5"), std::to_string(SYS_sync) + " 0x0"})
        CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox", command, status, call}));
}

TEST_CASE("busybox's init that has not taken the signal yet may sleep and is not at its end") {
    for (const char* line : {"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"}) {
        const std::string status = status_with(line, SIGUSR2);
        CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox", command, status, sleeping}));
    }
    CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox", command, "Name:\tinit\n", sleeping}));
    CHECK_FALSE(is_asleep_at_end(InitState{"/bin/busybox", command, "", sleeping}));
}
