#include "instance-agent/streamer/capture/capture_socket.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/net/socket/bind.h"

namespace svc::streamer {

namespace {

constexpr unsigned for_root_alone = 0600;
constexpr std::size_t longest_request = 1000;  // bytes

void send_whole(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) throw Error(ErrorCode::cancelled, "the client has gone");
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
}

void send_data(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, largest_capture_block);
        send_whole(socket, capture_block(CaptureBlock::data, piece));
        bytes.remove_prefix(piece.size());
    }
}

std::string read_line(int socket) {
    std::string line;
    for (char c = 0; line.size() < longest_request;) {
        const ssize_t got = ::recv(socket, &c, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0 || c == '\n') return line;
        line += c;
    }
    throw Error(ErrorCode::invalid_argument, "the request is too long");
}

void limit_waits(int socket) {
    const timeval limit{CaptureSocket::patience.count(), 0};
    for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
        if (::setsockopt(socket, SOL_SOCKET, direction, &limit, sizeof limit) != 0)
            throw system_error("capture socket", errno);
}

void refuse(int socket, CaptureBlock kind, std::string_view why) noexcept try {
    send_whole(socket, capture_block(kind, why.substr(0, longest_capture_error)));
} catch (const std::exception&) {
    // The client has gone: nobody wants to know why.
}

// The one recording that may go on.
class RecordingTurn {
  public:
    explicit RecordingTurn(std::atomic<bool>& taken) : taken_(taken) {
        if (taken_.exchange(true)) throw Error(ErrorCode::busy, "it is being recorded already");
    }
    ~RecordingTurn() { taken_ = false; }
    RecordingTurn(const RecordingTurn&) = delete;
    RecordingTurn& operator=(const RecordingTurn&) = delete;

  private:
    std::atomic<bool>& taken_;
};

}  // namespace

CaptureSocket::CaptureSocket(const std::filesystem::path& path, Captures captures)
    : path_(path),
      captures_(std::move(captures)),
      listener_(net::bind_unix(path, for_root_alone, -1)),
      workers_("capture", at_once, waiting) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "captures");
        accept(stop);
    });
}

CaptureSocket::~CaptureSocket() {
    thread_.request_stop();
    wake_.wake();
    thread_.join();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    ending_.request_stop();
    shown_.with([](Shown& shown) { shown.changed.request_stop(); });
    workers_.stop();
}

void CaptureSocket::show(const CaptureSetup& setup) {
    shown_.with([&](Shown& shown) {
        if (shown.setup.width != setup.width || shown.setup.height != setup.height)
            std::exchange(shown.changed, std::stop_source()).request_stop();
        shown.setup = setup;
    });
}

void CaptureSocket::accept(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::array<pollfd, 2> polled{{{wake_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
        if (poll(polled.data(), polled.size(), -1) <= 0 || polled[1].revents == 0) continue;
        const auto client =
            std::make_shared<FileDescriptor>(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!*client) continue;
        if (!workers_.post([this, client] { serve(*client); }))
            refuse(client->get(), CaptureBlock::busy, "too many captures are wanted at once");
    }
}

void CaptureSocket::serve(const FileDescriptor& client) try {
    limit_waits(client.get());
    capture(CaptureRequest::parse(read_line(client.get())),
            [&](std::string_view bytes) { send_data(client.get(), bytes); });
    send_whole(client.get(), capture_block(CaptureBlock::whole, ""));
} catch (const Error& e) {
    log::info("capture failed", {{"reason", e.what()}});
    refuse(client.get(), e.code() == ErrorCode::busy ? CaptureBlock::busy : CaptureBlock::failed, e.what());
}

void CaptureSocket::capture(const CaptureRequest& request, const ByteSink& sink) {
    const Shown shown = shown_.with([](const Shown& now) { return now; });
    if (shown.setup.width == 0) throw Error(ErrorCode::unavailable, "the streamer is starting");
    if (request.kind == CaptureRequest::Kind::screenshot)
        return captures_.screenshot(shown.setup, sink, ending_.get_token());
    const RecordingTurn turn(recording_);
    log::info("a recording begins", {{"seconds", std::to_string(request.length.count())}});
    captures_.record(shown.setup, request.length, sink, shown.changed.get_token());
}

}  // namespace svc::streamer
