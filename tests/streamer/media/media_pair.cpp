#include "tests/streamer/media/media_pair.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "instance-agent/streamer/media/video/codecs.h"
#include "libsvc/base/error.h"

namespace svc::streamer {

void PeerLog::local_offer(const std::string& sdp) {
    std::lock_guard lock(mutex_);
    offer_ = sdp;
    changed_.notify_all();
}

void PeerLog::local_candidate(const std::string& candidate, unsigned media_line) {
    std::unique_lock lock(mutex_);
    if (!sink_) return candidates_.emplace_back(candidate, media_line), void();
    const auto sink = sink_;
    lock.unlock();
    sink(candidate, media_line);
}

void PeerLog::connected() {
    add("connected");
}
void PeerLog::failed(const std::string& reason) {
    add("failed: " + reason);
}
void PeerLog::left() {
    add("left");
}
void PeerLog::fell_silent() {
    add("silent");
}
void PeerLog::channel_opened(const std::string& label) {
    add("open " + label);
}
void PeerLog::channel_closed(const std::string& label) {
    add("closed " + label);
}

void PeerLog::channel_message(const std::string& label, bool binary, std::string_view data) {
    std::lock_guard lock(mutex_);
    messages_.push_back({label, binary, std::string(data)});
    changed_.notify_all();
}

void PeerLog::add(const std::string& event) {
    std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
}

void PeerLog::candidates_to(std::function<void(const std::string&, unsigned)> sink) {
    std::vector<std::pair<std::string, unsigned>> early;
    {
        std::lock_guard lock(mutex_);
        sink_ = sink;
        early = std::exchange(candidates_, {});
    }
    if (sink)
        for (const auto& [candidate, line] : early) sink(candidate, line);
}

std::optional<std::string> PeerLog::wait_offer(std::chrono::seconds longest) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, longest, [&] { return !offer_.empty(); })) return std::nullopt;
    return offer_;
}

bool PeerLog::wait_event(const std::string& event, std::chrono::seconds longest) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(
        lock, longest, [&] { return std::find(events_.begin(), events_.end(), event) != events_.end(); });
}

std::optional<ClientMessage> PeerLog::next_message(std::chrono::seconds longest) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, longest, [&] { return !messages_.empty(); })) return std::nullopt;
    ClientMessage message = std::move(messages_.front());
    messages_.pop_front();
    return message;
}

std::vector<std::string> PeerLog::events() const {
    std::lock_guard lock(mutex_);
    return events_;
}

FrameWriter::FrameWriter(const std::string& path) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw system_error("frame writer", errno);
}

std::string frame_header(int width, int height) {
    std::string bytes = "SVCF";
    for (const int value : {width, height, width * 4})
        for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(value >> shift & 0xff));
    return bytes;
}

std::string frame_of(int width, int height, Colour colour, std::optional<Colour> square) {
    std::string bytes = frame_header(width, height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const bool inside = x >= width / 4 && x < width * 3 / 4 && y >= height / 4 && y < height * 3 / 4;
            for (const auto part : square&& inside ? *square : colour)
                bytes.push_back(static_cast<char>(part));
            bytes.push_back(static_cast<char>(0xff));
        }
    return bytes;
}

void FrameWriter::draw(int width, int height, Colour colour, std::optional<Colour> square) {
    send_bytes(frame_of(width, height, colour, square));
}

bool FrameWriter::send_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

bool FrameWriter::is_closed() {
    pollfd polled{fd_.get(), POLLIN, 0};
    char byte = 0;
    return poll(&polled, 1, std::chrono::milliseconds(patience).count()) == 1 &&
           recv(fd_.get(), &byte, 1, 0) <= 0;
}

MediaPair::MediaPair(Wish wish)
    : wish_(std::move(wish)), place_(std::filesystem::temp_directory_path(), "svc-media-") {
    start_media();
    PeerSetup setup;
    setup.settings = wish_.settings;
    setup.places.display = wish_.display;
    setup.places.frame_socket = frame_path();
    setup.places.guest_display = wish_.guest_display;
    setup.width = wish_.width;
    setup.height = wish_.height;
    setup.fps = wish_.fps;
    setup.bitrates = wish_.bitrates;
    setup.encoder = wish_.encoder;
    setup.watches = wish_.watches;
    peer_ = std::make_unique<GstPeer>(setup, log_, wish_.encoders);
    const auto offer = log_.wait_offer(patience);
    if (!offer) throw Error(ErrorCode::unavailable, "no offer came");
    offer_ = *offer;
}

MediaPair::~MediaPair() {
    end_peer();
    end_client();
}

// What is ended is out of the others' reach before its threads end.
void MediaPair::end_peer() {
    std::unique_lock lock(mutex_);
    const auto ending = std::move(peer_);
    lock.unlock();
}

void MediaPair::end_client() {
    std::unique_lock lock(mutex_);
    const auto ending = std::move(client_);
    lock.unlock();
}

void MediaPair::connect() {
    client_ = std::make_unique<HeadlessClient>(
        wish_.client, ClientSignals{[this](const std::string& sdp) { answer_ = sdp; },
                                    [this](const std::string& candidate, unsigned line) {
                                        std::lock_guard lock(mutex_);
                                        if (peer_) peer_->add_candidate(candidate, line);
                                    }});
    client_->take_offer(offer_);
    peer_->set_answer(wish_.change_answer ? wish_.change_answer(answer_) : answer_);
    log_.candidates_to([this](const std::string& candidate, unsigned line) {
        std::lock_guard lock(mutex_);
        if (client_) client_->add_candidate(candidate, line);
    });
}

StreamStats stats_of(const Peer& peer, const std::string& kind) {
    for (const StreamStats& stream : peer.stats().streams)
        if (stream.kind == kind) return stream;
    throw Error(ErrorCode::not_found, "no stream of " + kind);
}

}  // namespace svc::streamer
