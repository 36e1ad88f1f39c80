#include "libsvc/runtime/lxc/container/halt_signals.h"

#include <csignal>

#include "libsvc/base/error.h"
#include "libsvc/formats/oci/command.h"
#include "libsvc/runtime/lxc/container/rootfs.h"

namespace svc::lxc {

namespace {

constexpr std::size_t max_command_bytes = std::size_t{1} << 20;

// An image's own program runs below svc-agent, which takes every signal that asks for the end.
HaltSignals signals_of_image(const std::filesystem::path& root) {
    const OciCommand command = OciCommand::parse(read_inside(root, oci_init_path, max_command_bytes));
    const std::string* const init = command.init();
    if (init == nullptr) return halt_signals("");
    if (!command.stop_signal.empty()) {
        const int number = signal_named(command.stop_signal);
        return {std::to_string(number), {number}};  // liblxc does not know all names
    }
    return halt_signals(init->starts_with('/') ? find_init(root, *init) : *init);
}

}  // namespace

HaltSignals halt_signals(std::string_view init_target) {
    const std::size_t slash = init_target.rfind('/');
    const std::string_view program =
        slash == std::string_view::npos ? init_target : init_target.substr(slash + 1);
    if (program == "systemd") return {"SIGRTMIN+3", {SIGRTMIN + 3}};
    if (program == "busybox") return {"SIGUSR2", {SIGUSR2}, true};
    // SysV's init reacts to the first, minimal inits to the second; pid 1 ignores signals without a handler.
    return {"SIGPWR", {SIGPWR, SIGTERM}};
}

HaltSignals find_halt_signals(const std::filesystem::path& root, const ContainerSpec& spec) {
    const std::string init = spec.first_program();
    const std::string target = find_init(root, init);
    // Android's init shuts down at this signal, if it is in a container and the sender outside of it.
    if (spec.android) return {"SIGTERM", {SIGTERM}};
    if (init != oci_init_path) return halt_signals(target);
    return with_context(std::string(oci_init_path), [&] { return signals_of_image(root); });
}

}  // namespace svc::lxc
