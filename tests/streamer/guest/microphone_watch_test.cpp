// Against a PulseAudio of the test's own, without sound devices.
#include "instance-agent/streamer/sound/microphone_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"

extern char** environ;

using namespace svc;
using namespace svc::streamer;
using namespace std::chrono_literals;

namespace {

bool has_pulseaudio() {
    return std::filesystem::exists("/usr/bin/pulseaudio") && std::filesystem::exists("/usr/bin/parec");
}

class Program {
  public:
    explicit Program(std::vector<std::string> words) {
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t actions{};
        posix_spawn_file_actions_init(&actions);
        for (const int fd : {1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
        const int failure = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (failure != 0) throw system_error(words[0], failure);
    }
    ~Program() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

  private:
    pid_t pid_ = 0;
};

struct Place {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-sound-"};
    std::string socket = (folder.path() / "native").string();
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> told;

    // The file is there a moment before somebody listens.
    bool answers() const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
        const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    }
    std::unique_ptr<Program> server() const {
        const std::string home = folder.path().string();
        auto program = std::make_unique<Program>(std::vector<std::string>{
            "env", "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "PULSE_RUNTIME_PATH=" + home + "/run",
            "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "-L",
            "module-null-sink sink_name=speaker", "-L", "module-null-sink sink_name=svc_microphone", "-L",
            "module-native-protocol-unix auth-anonymous=1 socket=" + socket});
        test::eventually("the sound server answers", [this] { return answers(); });
        return program;
    }
    std::unique_ptr<Program> listener(const std::string& source) const {
        return std::make_unique<Program>(std::vector<std::string>{"env", "HOME=" + folder.path().string(),
                                                                  "parec", "--server=unix:" + socket,
                                                                  "--device=" + source});
    }
    bool await(const std::vector<bool>& wanted) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, 60s, [&] { return told == wanted; });
    }
    std::unique_ptr<MicrophoneWatch> watch() {
        return std::make_unique<MicrophoneWatch>(socket, [this](bool in_use) {
            std::lock_guard lock(mutex);
            told.push_back(in_use);
            changed.notify_all();
        });
    }
};

}  // namespace

TEST_CASE("whether somebody listens to the microphone is told, and the sound server may come and go") {
    if (!has_pulseaudio()) test::skip("needs the package pulseaudio");
    Place place;
    const auto watch = place.watch();
    auto server = place.server();
    const auto of_the_speaker = place.listener("speaker.monitor");
    auto listener = place.listener("svc_microphone.monitor");
    CHECK(place.await({true}));
    listener.reset();
    CHECK(place.await({true, false}));
    listener = place.listener("svc_microphone.monitor");
    CHECK(place.await({true, false, true}));
    server.reset();
    CHECK(place.await({true, false, true, false}));
    std::filesystem::remove(place.socket);
    server = place.server();
    listener = place.listener("svc_microphone.monitor");
    CHECK(place.await({true, false, true, false, true}));
}
