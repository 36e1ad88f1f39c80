#include "tests/bench/stream/measured_peer.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <sstream>

#include "instance-agent/streamer/media/peer/gst_peer.h"
#include "instance-agent/streamer/media/video/codec_forms.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

using namespace std::chrono_literals;

// The side that is measured speaks JSON lines over `fd`.
class LineEvents final : public PeerEvents {
  public:
    explicit LineEvents(int fd) : fd_(fd) {}
    void local_offer(const std::string& sdp) override { say(Json::object({{"offer", sdp}})); }
    void local_candidate(const std::string& candidate, unsigned line) override {
        say(Json::object({{"candidate", candidate}, {"line", line}}));
    }
    void connected() override {}
    void failed(const std::string&) override {}
    void left() override {}
    void channel_opened(const std::string&) override {}
    void channel_closed(const std::string&) override {}
    void channel_message(const std::string&, bool, std::string_view) override {}
    void say(const Json& json) {
        std::lock_guard lock(mutex_);
        write_all_to(fd_, json.dump() + "\n");
    }

  private:
    int fd_;
    std::mutex mutex_;
};

void each_line(int fd, const std::function<void(const Json&)>& handle) {
    std::string text;
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; (count = read(fd, bytes.data(), bytes.size())) > 0;) {
        text.append(bytes.data(), static_cast<std::size_t>(count));
        for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
            handle(Json::parse(text.substr(0, end)));
    }
}

[[noreturn]] void serve_peer(const PeerSetup& setup, int fd) {
    start_media();
    LineEvents events(fd);
    GstPeer peer(setup, events);
    each_line(fd, [&](const Json& said) {
        if (const Json* sdp = said.find("answer")) peer.set_answer(sdp->as_string());
        if (const Json* candidate = said.find("candidate"))
            peer.add_candidate(candidate->as_string(), static_cast<unsigned>(said.at("line").as_int()));
        if (said.find("stats") == nullptr) return;
        const StreamStats stats = stats_of(peer, "video");
        events.say(Json::object({{"frames", stats.frames_encoded},
                                 {"encode_ms", stats.total_encode_time * 1000},
                                 {"bytes", stats.bytes_sent},
                                 {"kbps", stats.target_bitrate / 1000}}));
    });
    _exit(0);
}

}  // namespace

double processor_seconds(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void write_all_to(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) throw Error(ErrorCode::unavailable, "the measured process has ended");
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

PeerSetup peer_setup(const BenchOptions& options) {
    PeerSetup setup;
    setup.settings.preferred_codecs = {options.codec};
    setup.settings.speaker = false;
    setup.width = options.width;
    setup.height = options.height;
    setup.fps = options.fps;
    return setup;
}

BarePipeline::BarePipeline(const std::string& source, const BenchOptions& options, std::uint32_t kbps,
                           int standard_input) {
    const EncoderForm form = find_encoder(options.codec, VideoEncoder::software).value();
    const std::string encoder =
        encoder_description(form, {options.width, options.height, options.fps}, kbps, properties_of(form));
    const std::string pipeline = "exec gst-launch-1.0 -q " + source +
                                 " ! videoconvert ! video/x-raw,format=I420 ! " + encoder +
                                 " ! fakesink sync=false";
    child_ = fork();
    if (child_ != 0) return;
    dup2(standard_input, 0);
    execl("/bin/sh", "sh", "-c", pipeline.c_str(), nullptr);
    _exit(127);
}

BarePipeline::~BarePipeline() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
}

MeasuredPeer::MeasuredPeer(const PeerSetup& setup) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw system_error("socketpair", errno);
    ours_ = FileDescriptor(ends[0]);
    child_ = fork();
    if (child_ == 0) {
        ours_.reset();
        serve_peer(setup, ends[1]);
    }
    close(ends[1]);
    start_media();
    ClientWish wish;
    wish.decode = false;
    client_ = std::make_unique<HeadlessClient>(
        wish, ClientSignals{[this](const std::string& sdp) {
                                say(Json::object({{"answer", sdp}}));
                            },
                            [this](const std::string& candidate, unsigned line) {
                                say(Json::object({{"candidate", candidate}, {"line", line}}));
                            }});
    reader_ = std::jthread([this] { each_line(ours_.get(), [this](const Json& said) { hear(said); }); });
    if (!client_->wait_frames(1, 20s)) throw Error(ErrorCode::unavailable, "no picture came");
}

MeasuredPeer::~MeasuredPeer() {
    kill(child_, SIGTERM);
    waitpid(child_, nullptr, 0);
    shutdown(ours_.get(), SHUT_RDWR);
    reader_.join();
}

void MeasuredPeer::say(const Json& json) {
    std::lock_guard lock(say_mutex_);
    write_all_to(ours_.get(), json.dump() + "\n");
}

void MeasuredPeer::hear(const Json& said) {
    if (const Json* sdp = said.find("offer")) client_->take_offer(sdp->as_string());
    if (const Json* candidate = said.find("candidate"))
        client_->add_candidate(candidate->as_string(), static_cast<unsigned>(said.at("line").as_int()));
    if (said.find("frames") == nullptr) return;
    std::lock_guard lock(figures_mutex_);
    figures_ = said;
    came_.notify_all();
}

Json MeasuredPeer::figures() {
    std::unique_lock lock(figures_mutex_);
    figures_ = Json();
    lock.unlock();
    say(Json::object({{"stats", true}}));
    lock.lock();
    if (!came_.wait_for(lock, 10s, [&] { return !figures_.is_null(); }))
        throw Error(ErrorCode::unavailable, "the measured process says nothing");
    return figures_;
}

}  // namespace svc::streamer
