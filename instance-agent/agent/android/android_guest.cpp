#include "instance-agent/agent/android/android_guest.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "instance-agent/agent/android/binder_file_system.h"
#include "instance-agent/agent/files/guest_programs.h"
#include "instance-agent/agent/processes/keep_running.h"
#include "instance-agent/shared/display_settings.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::string_view hardware_argument = "androidboot.hardware=";
constexpr const char* own_hardware = "svc";  // of images that name none
constexpr const char* boot_completed = "test \"$(getprop sys.boot_completed)\" = 1";

// Mount points of Android's init. It goes on where it may not mount there.
constexpr std::array<const char*, 6> folders{"input", "cpuset", "cpuctl", "blkio", "memcg", "dma_heap"};

class InitArguments {
  public:
    explicit InitArguments(std::vector<std::string> words) : words_(std::move(words)) {
        const auto named = std::ranges::find_if(
            words_, [](const std::string& word) { return word.starts_with(hardware_argument); });
        const bool is_named = named != words_.end();
        hardware_ = is_named ? named->substr(hardware_argument.size()) : own_hardware;
        if (!is_named) words_.push_back(std::string(hardware_argument) + own_hardware);
    }

    void set(const std::string& setting, const std::string& value) {
        const std::string name = "androidboot." + hardware_ + "_" + setting + "=";
        const bool is_set =
            std::ranges::any_of(words_, [&](const std::string& word) { return word.starts_with(name); });
        if (!is_set) words_.push_back(name + value);
    }
    std::vector<std::string> words() && { return std::move(words_); }

  private:
    std::vector<std::string> words_;
    std::string hardware_;
};

}  // namespace

void prepare_android(const Paths& paths) {
    const std::filesystem::path dev = paths.in_guest("/dev");
    make_binder_nodes(dev);
    // What init logs to the kernel is a log of the guest, not of the host.
    if (::symlink("console", (dev / "kmsg").c_str()) != 0 && errno != EEXIST)
        throw system_error("cannot make /dev/kmsg", errno);
    for (const char* folder : folders)
        if (::mkdir((dev / folder).c_str(), 0755) != 0 && errno != EEXIST)
            throw system_error("cannot make /dev/" + std::string(folder), errno);
}

std::vector<std::string> android_init(const AgentSession& session, const Paths& paths,
                                      std::vector<std::string> init) {
    InitArguments arguments(std::move(init));
    const DisplaySettings display = read_display_settings(session.config.platform, paths.user_data());
    arguments.set("width", std::to_string(display.width));
    arguments.set("height", std::to_string(display.height));
    arguments.set("dpi", std::to_string(display.density));
    arguments.set("fps", std::to_string(display.fps));
    arguments.set("gpu_mode", session.gpus.empty() ? "guest" : "host");
    if (!session.name_servers.empty()) arguments.set("net_ndns", std::to_string(session.name_servers.size()));
    for (std::size_t n = 0; n < session.name_servers.size(); ++n)
        arguments.set("net_dns" + std::to_string(n + 1), session.name_servers[n]);
    return std::move(arguments).words();
}

ReadinessCheck readiness_of(const AgentSession& session) {
    ReadinessCheck check = session.ready;
    if (session.android && check == ReadinessCheck()) check.command = boot_completed;
    return check;
}

void keep_android_log(const AgentSession& session, const Paths& paths, Clock& clock,
                      std::stop_token stop) try {
    const auto program = session.android ? find_program(paths, "logcat") : std::filesystem::path();
    if (program.empty()) return;
    keep_running({paths.logs() / "android.log", {program, "-v", "threadtime"}}, our_environment(), clock,
                 std::move(stop));
} catch (const std::exception& e) {
    log::warning("the log of Android is not kept", {{"reason", e.what()}});
}

}  // namespace svc::agent
