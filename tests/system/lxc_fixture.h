#pragma once
// A runtime of its own for each test: state directory, bridge and subnet nobody else uses, a tiny image.
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/runtime/lxc/lxc_runtime.h"
#include "tests/support/eventually.h"

namespace svc::test {

// For what takes a moment on a machine that is not busy.
constexpr std::chrono::seconds patience{60};

inline void run_shell(const std::string& script) {
    const CommandResult result = run_command({"/bin/sh", "-ec", script}, patience);
    if (result.status.code != 0) throw Error(ErrorCode::internal, script + ": " + result.errors);
}

// What the image's /sbin/init is. Once it has said that it is up it can be asked to end.
inline const char* const patient_init =
    "#!/bin/sh\ntrap 'echo bye; exit 0' TERM\necho init is up\nwhile :; do sleep 1000 & wait $!; done\n";

// There from before a doomed daemon stops its container until that is removed.
inline std::filesystem::path ending_mark(const std::filesystem::path& agent) {
    return agent.native() + ".ending";
}

// Events as they come, to be waited for.
class EventLog {
  public:
    void add(const RuntimeEvent& event) {
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
        came_.notify_all();
    }
    RuntimeEvent wait() {
        std::unique_lock lock(mutex_);
        if (!came_.wait_for(lock, patience, [&] { return !events_.empty(); }))
            throw Error(ErrorCode::unavailable, "no event came");
        RuntimeEvent first = events_.front();
        events_.erase(events_.begin());
        return first;
    }
    bool empty() {
        const std::lock_guard lock(mutex_);
        return events_.empty();
    }

  private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<RuntimeEvent> events_;
};

// "10.201.": the machine has no way to any network of it.
inline std::string free_nets() {
    const std::string routes = run_command({"/bin/sh", "-c", "ip -4 route show table all"}, patience).output;
    int second = 200 + ::getpid() % 50;
    const auto net = [&] { return "10." + std::to_string(second) + "."; };
    while (routes.find(net()) != std::string::npos) second = second == 249 ? 16 : second + 1;
    return net();
}

// An image package of busybox below `folder`, with this as /sbin/init; empty: none.
inline std::filesystem::path busybox_package(const std::filesystem::path& folder, const std::string& init) {
    const std::filesystem::path rootfs = folder / "package" / "rootfs";
    run_shell("mkdir -p " + rootfs.native() + "/bin " + rootfs.native() + "/sbin " + rootfs.native() +
              "/dev " + rootfs.native() + "/proc " + rootfs.native() + "/sys " + rootfs.native() + "/root " +
              rootfs.native() + "/tmp; cd " + rootfs.native() +
              "; cp $(command -v busybox) bin/busybox; for a in $(bin/busybox --list); do "
              "[ $a = busybox ] || ln -sf busybox bin/$a; done; rm -f sbin/init; echo from the image > motd");
    if (!init.empty()) {
        std::ofstream(rootfs / "sbin/init") << init;
        ::chmod((rootfs / "sbin/init").c_str(), 0755);
    }
    const std::string package = (folder / "package.tar.gz").native();
    run_shell("tar -C " + rootfs.parent_path().native() + " --owner=0 --group=0 -czf " + package + " rootfs");
    return package;
}

// As the environment says: the same tests run with each launcher.
inline void use_launcher(LxcOptions& options) {
    options.helper = ::getenv("SVC_LXC_HELPER");
    options.launch_helper = ::getenv("SVC_LAUNCH_HELPER");
    const bool own = std::string_view(::getenv("SVC_LXC_LAUNCHER")) == "own";
    options.launcher = own ? lxc::LauncherKind::own : lxc::LauncherKind::liblxc;
}

// What use_launcher() of a daemon that the test starts has to find.
inline std::vector<std::string> launcher_environment(const LxcOptions& options) {
    const bool own = options.launcher == lxc::LauncherKind::own;
    return {"SVC_LXC_HELPER=" + options.helper.native(),
            "SVC_LAUNCH_HELPER=" + options.launch_helper.native(),
            std::string("SVC_LXC_LAUNCHER=") + (own ? "own" : "liblxc")};
}

class LxcFixture {
  public:
    LxcFixture() : directory_("/var/tmp", "svc-lxc-test-") {
        ::chmod(directory_.path().c_str(), 0711);
        // What daemons killed by the test before have left became ours; of a new daemon it would not be.
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        static int number = 0;
        options_.state_dir = directory_.path() / "lxc";
        options_.bridge = "svct" + std::to_string(::getpid() % 100000) + "n" + std::to_string(++number);
        static const std::string nets = free_nets();
        options_.subnet = nets + std::to_string(number) + ".1/24";
        use_launcher(options_);
        reopen();
    }
    ~LxcFixture() {
        if (!runtime_) reopen();
        for (const ContainerInfo& info : runtime_->list()) runtime_->remove(info.id);
        runtime_->tear_down();
    }
    LxcFixture(const LxcFixture&) = delete;
    LxcFixture& operator=(const LxcFixture&) = delete;

    void close() { runtime_.reset(); }
    void reopen() {
        close();
        runtime_ = std::make_unique<LxcRuntime>(options_, clock_);
        runtime_->on_event([this](const RuntimeEvent& event) { events.add(event); });
    }
    LxcRuntime& runtime() { return *runtime_; }
    LxcOptions& options() { return options_; }
    // The program that starts containers.
    std::filesystem::path& helper() {
        return options_.launcher == lxc::LauncherKind::own ? options_.launch_helper : options_.helper;
    }
    const std::filesystem::path& directory() const { return directory_.path(); }
    std::filesystem::path container(const std::string& id) const {
        return options_.state_dir / "containers" / id;
    }

    // A layer of busybox, with this as /sbin/init; empty: none.
    void add_layer(const std::string& name, const std::string& init) {
        runtime_->layers().add(name, make_package(init), {});
    }
    std::filesystem::path make_package(const std::string& init) {
        return busybox_package(directory_.path(), init);
    }

    static ContainerSpec spec_in(const LxcOptions& options, const std::string& id, unsigned host_number = 2,
                                 const std::string& layer = "base") {
        ContainerSpec spec;
        spec.id = id;
        spec.name = "svc-" + id;
        spec.layers = {layer};
        spec.memory_bytes = std::uint64_t{256} << 20;
        spec.address = options.subnet.substr(0, options.subnet.rfind('.') + 1) + std::to_string(host_number);
        return spec;
    }
    ContainerSpec spec(const std::string& id, unsigned host_number = 2,
                       const std::string& layer = "base") const {
        return spec_in(options_, id, host_number, layer);
    }

    EventLog events;

  private:
    TemporaryDirectory directory_;
    SystemClock clock_;
    LxcOptions options_;
    std::unique_ptr<LxcRuntime> runtime_;
};

struct Finished {
    std::string output, errors;
    int code = 0;
    bool exec_failed = false;
};

// Reads both streams to their end, then the exit code; `input` is written first.
inline std::string read_output(int fd) {
    std::string text;
    std::array<char, 65536> buffer;
    for (;;) {
        pollfd entry{fd, POLLIN, 0};
        if (::poll(&entry, 1, std::chrono::milliseconds(patience).count()) <= 0)
            throw Error(ErrorCode::unavailable, "output did not end");
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0 && errno == EAGAIN) continue;
        if (got <= 0) return text;  // a terminal ends with EIO
        text.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

inline Finished finish(ExecProcess& process) {
    Finished finished;
    finished.output = read_output(process.output());
    if (process.errors() >= 0) finished.errors = read_output(process.errors());
    pollfd ended{process.ended(), POLLIN, 0};
    if (::poll(&ended, 1, std::chrono::milliseconds(patience).count()) <= 0)
        throw Error(ErrorCode::unavailable, "command did not end");
    finished.code = process.exit_code();
    finished.exec_failed = process.exec_failed();
    return finished;
}

inline Finished run_inside(Runtime& runtime, const std::string& id, std::vector<std::string> command,
                           const std::string& input = "") {
    ExecSpec spec;
    spec.command = std::move(command);
    const auto process = runtime.exec(id, spec);
    if (!input.empty()) write_all(process->input(), input);
    process->close_input();
    return finish(*process);
}

inline Finished shell_inside(Runtime& runtime, const std::string& id, const std::string& script) {
    return run_inside(runtime, id, {"sh", "-c", script});
}

inline std::string children_of(pid_t parent, char state) {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream stat(entry.path() / "stat");
        std::string line;
        if (!std::getline(stat, line)) continue;
        const std::string rest = line.substr(line.rfind(')') + 2);
        if (rest[0] == state && std::stoi(rest.substr(2)) == parent) found += line + "\n";
    }
    return found;
}

inline std::string shown_now(const LxcFixture& fixture, const std::string& id) {
    const std::string state = const_cast<LxcFixture&>(fixture).options().state_dir.native();
    const std::string bridge = const_cast<LxcFixture&>(fixture).options().bridge;
    const CommandResult result = run_command(
        {"/bin/sh", "-c",
         "grep -F " + state + "/containers/" + id + " /proc/mounts; ls /sys/class/net/" + bridge +
             "/brif; ls -d /sys/fs/cgroup/*/svc-" + bridge + "/" + id + "* /sys/fs/cgroup/svc-" + bridge +
             "/" + id +
             "* 2>/dev/null; ls /sys/kernel/security/apparmor/policy/namespaces 2>/dev/null | grep -F svc-" +
             bridge + "." + id + "; nft list table inet svc_" + bridge +
             " | grep -E '[0-9]+ : '; nft list set bridge svc_" + bridge + " guests | grep 02:16; ls -A " +
             state + "/containers; grep -F " + state +
             "/containers /proc/net/unix; find /run/svc-lxc/ids -lname '" + state +
             "/*' 2>/dev/null; ls -A /run/lxc/lock/" + state + "/containers"},
        patience);
    return result.output;
}

// Everything of this daemon that the kernel or the file system goes on showing. The kernel takes the device
// of a network namespace that has ended off its bridge some time after it has forgotten the device's name.
inline std::string leftovers(const LxcFixture& fixture, const std::string& id) {
    std::string shown;
    eventually([&] { return (shown = shown_now(fixture, id)).empty(); });
    return shown;
}

// Children that have ended are reaped soon.
inline bool leaves_no_zombies() {
    return eventually([] { return children_of(::getpid(), 'Z').empty(); });
}

}  // namespace svc::test
