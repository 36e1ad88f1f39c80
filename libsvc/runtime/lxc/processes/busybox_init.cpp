#include "libsvc/runtime/lxc/processes/busybox_init.h"

#include <signal.h>
#include <sys/syscall.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::lxc {

namespace {

constexpr std::string_view own_name("init\0", 5);  // what it makes its arguments when it begins

// The bit of SIGUSR2 in a line of `status`, "SigCgt:\t0000000000000800"; nothing: there is no such line.
std::optional<bool> has_halt_signal(std::string_view status, std::string_view line) {
    const std::size_t at = status.find(line);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view digits = status.substr(at + line.size(), 16);
    std::uint64_t mask = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
    if (problem != std::errc{}) return std::nullopt;
    return (mask >> (SIGUSR2 - 1) & 1) != 0;
}

bool has_begun_to_end(std::string_view status) {
    for (const std::string_view line :
         {"\nSigPnd:\t", "\nShdPnd:\t", "\nSigBlk:\t", "\nSigIgn:\t", "\nSigCgt:\t"})
        if (has_halt_signal(status, line).value_or(true)) return false;
    return true;
}

bool sleeps(std::string_view syscall) {
    long number = -1;
    const auto [end, problem] = std::from_chars(syscall.data(), syscall.data() + syscall.size(), number);
    return problem == std::errc{} && (number == SYS_nanosleep || number == SYS_clock_nanosleep);
}

}  // namespace

bool is_asleep_at_end(const InitState& init) {
    return std::filesystem::path(init.program).filename() == "busybox" &&
           init.command.starts_with(own_name) && sleeps(init.syscall) && has_begun_to_end(init.status);
}

bool is_asleep_at_end(pid_t init) {
    try {
        const std::filesystem::path folder = "/proc/" + std::to_string(init);
        const std::string program = std::filesystem::read_symlink(folder / "exe");
        const std::string command = read_file(folder / "cmdline");
        const std::string status = read_file(folder / "status");
        const std::string syscall = read_file(folder / "syscall");
        return is_asleep_at_end(InitState{program, command, status, syscall});
    } catch (const std::exception&) {
        return false;
    }
}

}  // namespace svc::lxc
