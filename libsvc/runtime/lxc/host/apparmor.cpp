#include "libsvc/runtime/lxc/host/apparmor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/apparmor_profile.h"

namespace svc::lxc {

namespace {

constexpr std::chrono::seconds parser_limit{60};
constexpr const char* removed_profiles = "/sys/kernel/security/apparmor/.remove";

}  // namespace

// Not from the parser's cache: it is kept by the name of the file, whichever daemon has written that.
void load_guest_profile(const ConfigContext& context) {
    const std::filesystem::path file = context.layout.apparmor();
    write_file_atomically(file, guest_profile(context.bridge));
    const CommandResult done =
        run_command({apparmor_parser, "--replace", "--skip-cache", file.native()}, parser_limit);
    if (done.status.code == 0) return;
    throw Error(ErrorCode::unsupported,
                fmt::format("the AppArmor profile of the guests cannot be loaded: {}", trim(done.errors)));
}

void unload_profile(const std::string& name) {
    if (::access(removed_profiles, W_OK) != 0) return;
    const FileDescriptor file = open_file(removed_profiles, O_WRONLY);
    if (::write(file.get(), name.data(), name.size()) < 0 && errno != ENOENT)
        throw system_error("cannot unload an AppArmor profile", errno);
}

void remove_policy_namespace(const std::string& name) {
    const std::string folder = fmt::format("{}/{}", policy_namespaces, name);
    if (::rmdir(folder.c_str()) != 0 && errno != ENOENT)
        throw system_error("cannot remove a namespace of AppArmor policies", errno);
}

}  // namespace svc::lxc
