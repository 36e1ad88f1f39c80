#include "instance-agent/streamer/client/socket_peer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "instance-agent/streamer/peer/bitrate_choice.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc::streamer {

namespace {

constexpr char key_flag = 1, last_flag = 2, sound_flag = 4;
constexpr std::chrono::milliseconds goodbye{300};

// That of the instance's signalling, with another word and the client: the token allows both.
std::string media_path(std::string path, const std::string& client) {
    const std::string_view master = "/sockets/master?";
    const std::size_t at = path.find(master);
    if (at == std::string::npos) throw Error(ErrorCode::unsupported, "the gateway takes no media");
    return path.replace(at, master.size(), "/sockets/media?client=" + client + "&");
}

std::vector<Target> all_of(const GatewayAddress& gateway) {
    std::vector<Target> all{gateway.target};
    all.insert(all.end(), gateway.others.begin(), gateway.others.end());
    return all;
}

// Flags, then the time in microseconds, big endian.
std::string header_of(char flags, std::int64_t time) {
    std::string header(1, flags);
    for (int shift = 56; shift >= 0; shift -= 8) header += static_cast<char>(time >> shift & 0xFF);
    return header;
}

// The client has left out pictures that came faster than it decodes.
bool wants_key_frame(const std::string& text) {
    constexpr std::size_t longest = 64;
    return text.size() <= longest && text.find("\"media::key-frame\"") != std::string::npos;
}

// What the kernel has taken goes out in its order, so it takes no more than what the path can have soon:
// sound would wait behind megabytes of a picture. Without effect on sockets that are not TCP.
void keep_short(const WebSocketClient& socket) {
    constexpr int unsent = 32 << 10;  // bytes
    ::setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
}

}  // namespace

SocketPeer::SocketPeer(PeerSetup setup, const std::string& client, const GatewayAddress& gateway,
                       std::vector<VideoCodec> codecs, OpenVideo open_video, OpenSound open_sound,
                       OpenMicrophone open_microphone, PeerEvents& events)
    : setup_(std::move(setup)),
      path_(media_path(gateway.path, client)),
      gateways_(all_of(gateway)),
      codecs_(preferred_first(std::move(codecs), setup_.settings.preferred_codecs)),
      open_video_(std::move(open_video)),
      open_sound_(std::move(open_sound)),
      open_microphone_(std::move(open_microphone)),
      events_(events),
      watches_(setup_.watches),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

SocketPeer::~SocketPeer() {
    thread_.request_stop();
    {
        std::lock_guard lock(mutex_);
        ending_ = true;
        shut_down();
    }
    thread_.join();
    std::lock_guard lock(video_mutex_);
    video_.reset();
    sound_.reset();
    microphone_.reset();
}

void SocketPeer::shut_down() {
    if (socket_) ::shutdown(socket_->descriptor(), SHUT_RDWR);
}

void SocketPeer::run(const std::stop_token& stop) {
    const auto socket = connect(stop);
    if (stop.stop_requested()) return;
    if (!socket) return events_.failed("the gateway cannot be reached for media");
    keep_short(*socket);
    {
        const std::jthread writer([&](const std::stop_token& done) { write(done, *socket); });
        serve(*socket);
        std::lock_guard lock(mutex_);
        shut_down();  // wakes a writer that waits for the gateway
    }
    if (!stop.stop_requested()) events_.left();
}

std::shared_ptr<WebSocketClient> SocketPeer::connect(const std::stop_token& stop) {
    for (const Target& gateway : gateways_) {
        if (stop.stop_requested()) return nullptr;
        try {
            auto socket = std::make_shared<WebSocketClient>(gateway, path_, Headers(), patience, stop);
            std::lock_guard lock(mutex_);
            if (ending_) return nullptr;
            return socket_ = socket;
        } catch (const Error& e) {
            if (stop.stop_requested()) return nullptr;
            log::warning("gateway takes no media", {{"gateway", gateway.describe()}, {"error", e.what()}});
        }
    }
    return nullptr;
}

void SocketPeer::serve(WebSocketClient& socket) {
    while (auto message = socket.receive()) {
        if (message->kind == WebSocketMessage::Kind::closed) return;
        if (message->kind == WebSocketMessage::Kind::text) take(message->data);
        if (message->kind == WebSocketMessage::Kind::binary) take_microphone(message->data);
    }
}

// The first message begins; of the others, all are of the control channel but the wish for a key frame.
void SocketPeer::take(const std::string& text) {
    bool begun = false;
    {
        std::lock_guard lock(mutex_);
        begun = codec_.has_value();
    }
    if (begun && wants_key_frame(text)) return request_key_frame();
    if (begun) return events_.channel_message(std::string(control_label), false, text);
    try {
        begin(text);
    } catch (const Error& e) {
        log::info("media through the gateway cannot begin", {{"error", e.what()}});
        events_.failed(e.what());
    }
}

void SocketPeer::request_key_frame() {
    std::lock_guard lock(video_mutex_);
    if (video_) video_->request_key_frame();
}

void SocketPeer::begin(const std::string& text) {
    const Json message = Json::parse(text);
    const JsonFields fields(message);
    if (fields.require_string("type") != "begin")
        throw Error(ErrorCode::invalid_argument, "the first message is not 'begin'");
    const auto known = fields.strings("codecs").value_or(std::vector<std::string>());
    const auto codec = std::ranges::find_if(
        codecs_, [&](VideoCodec one) { return std::ranges::find(known, to_text(one)) != known.end(); });
    if (codec == codecs_.end()) throw Error(ErrorCode::invalid_argument, "there is no codec in common");
    {
        std::lock_guard lock(mutex_);
        codec_ = *codec;
        moved_ = Moment::clock::now();
        texts_.push_front(Json::object({{"type", "began"}, {"codec", to_text(*codec)}}).dump());
        text_bytes_ += texts_.front().size();
    }
    open_video();
    if (fields.boolean("sound").value_or(false)) open_sound();
    events_.connected();
    events_.channel_opened(std::string(control_label));
}

// Nothing of an encoder before it goes out, and a key frame first.
void SocketPeer::open_video() {
    std::lock_guard video_lock(video_mutex_);
    if (hidden_ || !setup_.settings.video) return;
    video_.reset();
    std::unique_lock lock(mutex_);
    if (!codec_) return;
    const VideoCodec codec = *codec_;
    frames_.clear();
    waits_for_key_ = true;
    key_wanted_ = {};
    lock.unlock();
    video_ = open_video_(
        setup_, codec,
        {[this](const VideoFrame& frame) { take_frame(frame); },
         [this](const std::string& reason) { events_.failed("the display cannot be streamed: " + reason); }});
}

// Without sound there are pictures all the same.
void SocketPeer::open_sound() try {
    std::lock_guard lock(video_mutex_);
    if (!open_sound_ || !setup_.settings.speaker) return;
    sound_ =
        open_sound_(setup_.places.audio_server, [this](const SoundPacket& packet) { take_sound(packet); });
} catch (const Error& e) {
    log::warning("the client hears nothing", {{"error", e.what()}});
}

// One packet of Opus, as sound goes to the client.
void SocketPeer::take_microphone(std::string_view message) {
    constexpr std::size_t header = 9, longest = 1500;
    if (message.size() <= header || message.size() > longest || message[0] != sound_flag) return;
    std::lock_guard lock(video_mutex_);
    if (MicrophoneFeed* const feed = microphone()) feed->play(message.substr(header));
}

// Null: nothing of this client's is heard. Under video_mutex_.
MicrophoneFeed* SocketPeer::microphone() try {
    {
        std::lock_guard lock(mutex_);
        if (watches_ || !codec_) return nullptr;
    }
    if (!setup_.settings.microphone || !open_microphone_) return nullptr;
    if (!microphone_) microphone_ = open_microphone_(setup_.places.audio_server);
    return microphone_.get();
} catch (const Error& e) {
    log::warning("the client's microphone is not heard", {{"error", e.what()}});
    setup_.settings.microphone = false;
    return nullptr;
}

void SocketPeer::take_sound(const SoundPacket& packet) {
    std::lock_guard lock(mutex_);
    sounds_.add(packet);
    changed_.notify_all();
}

// Nothing waits behind a slow client but a few frames. Those that are too many are dropped, up to a key
// frame.
void SocketPeer::take_frame(const VideoFrame& frame) {
    std::lock_guard lock(mutex_);
    const Moment now = Moment::clock::now();
    if (frames_.size() >= most_frames) fall_behind(now);
    if (frame.key_frame && now >= key_wanted_) waits_for_key_ = false;
    if (waits_for_key_) return;
    frames_.push_back(frame);
    changed_.notify_all();
}

void SocketPeer::fall_behind(Moment now) {
    frames_.clear();
    waits_for_key_ = true;
    behind_ = moved_ = now;
    key_wanted_ = now + rest;
}

bool SocketPeer::send(const std::string& label, bool binary, std::string_view data) {
    std::lock_guard lock(mutex_);
    if (!socket_ || label != control_label || binary || text_bytes_ > most_texts) return false;
    texts_.emplace_back(data);
    text_bytes_ += data.size();
    changed_.notify_all();
    return true;
}

std::size_t SocketPeer::buffered(const std::string& label) const {
    std::lock_guard lock(mutex_);
    return label == control_label ? text_bytes_ : 0;
}

void SocketPeer::write(const std::stop_token& stop, WebSocketClient& socket) try {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        changed_.wait_for(lock, stop, std::chrono::milliseconds(500),
                          [this] { return !texts_.empty() || !sounds_.empty() || !frames_.empty(); });
        writing_ = true;
        if (!texts_.empty()) {
            const std::string text = std::move(texts_.front());
            texts_.pop_front();
            text_bytes_ -= text.size();
            lock.unlock();
            socket.send_text(text);
        } else if (!sounds_.empty()) {
            lock.unlock();
            send_sound(socket);
        } else if (!frames_.empty()) {
            const VideoFrame frame = std::move(frames_.front());
            frames_.pop_front();
            lock.unlock();
            send_frame(socket, frame);
        } else {
            lock.unlock();
        }
        adapt(Moment::clock::now());
        lock.lock();
        writing_ = false;
        changed_.notify_all();
    }
} catch (const Error&) {
    std::lock_guard lock(mutex_);  // the receiving side notices, too
    writing_ = false;
    changed_.notify_all();
}

void SocketPeer::send_frame(WebSocketClient& socket, const VideoFrame& frame) {
    for (std::size_t at = 0; at < frame.bytes->size(); at += piece) {
        const bool last = at + piece >= frame.bytes->size();
        std::string message = header_of(
            static_cast<char>((frame.key_frame ? key_flag : 0) | (last ? last_flag : 0)), frame.time);
        message.append(*frame.bytes, at, piece);
        socket.send_binary(message);
        {
            std::lock_guard lock(mutex_);
            ++packets_;
            bytes_ += message.size();
        }
        send_sound(socket);
    }
}

// All that waits.
void SocketPeer::send_sound(WebSocketClient& socket) {
    for (;;) {
        std::unique_lock lock(mutex_);
        const auto packet = sounds_.take();
        if (!packet) return;
        const std::string message = header_of(sound_flag, packet->time) + *packet->bytes;
        ++sound_packets_;
        sound_bytes_ += message.size();
        lock.unlock();
        socket.send_binary(message);
    }
}

// One that watches has no say in the bit rate: the picture of the one that steers depends on it.
void SocketPeer::adapt(Moment now) {
    std::unique_lock lock(mutex_);
    if (!codec_) return;
    if (waits_for_key_) {
        lock.unlock();
        return catch_up(now);
    }
    if (watches_ || now - moved_ < calm) return;
    moved_ = now;
    lock.unlock();
    std::lock_guard video_lock(video_mutex_);
    if (!video_) return;
    const std::uint32_t kbps = video_->kbps(), most = bitrate_limits(setup_).most_kbps;
    if (kbps < most) video_->set_kbps(std::min(most, kbps + kbps / 8));
}

// After a rest: with a key frame and fewer bits.
void SocketPeer::catch_up(Moment now) {
    std::unique_lock lock(mutex_);
    if (now < key_wanted_) return;
    key_wanted_ = {};
    const bool slower = !watches_ && behind_ != Moment();
    behind_ = {};
    lock.unlock();
    std::lock_guard video_lock(video_mutex_);
    if (!video_) return;
    constexpr std::uint32_t least_kbps = 300;
    if (slower) video_->set_kbps(std::max(least_kbps, video_->kbps() * 3 / 4));
    video_->request_key_frame();
}

void SocketPeer::set_answer(const std::string&) {
    throw Error(ErrorCode::invalid_argument, "there is no offer to answer: media goes through the gateway");
}

void SocketPeer::set_bitrates(BitrateLimits bitrates) {
    std::lock_guard lock(video_mutex_);
    setup_.bitrates = bitrates;
    if (!video_) return;
    const BitrateLimits limits = bitrate_limits(setup_);
    video_->set_kbps(std::clamp(video_->kbps(), limits.least_kbps, limits.most_kbps));
}

void SocketPeer::set_watching(bool watches) {
    std::lock_guard video_lock(video_mutex_);
    {
        std::lock_guard lock(mutex_);
        watches_ = watches;
        moved_ = Moment::clock::now();
    }
    if (!watches && video_) video_->set_kbps(first_kbps(setup_));
}

void SocketPeer::hide_screen() {
    std::lock_guard lock(video_mutex_);
    hidden_ = true;
    video_.reset();
}

void SocketPeer::show_screen(int width, int height) try {
    {
        std::lock_guard lock(video_mutex_);
        hidden_ = false;
        setup_.width = width;
        setup_.height = height;
    }
    open_video();
} catch (const Error& e) {
    events_.failed(std::string("the display cannot be streamed: ") + e.what());
}

PeerStats SocketPeer::stats() const {
    PeerStats stats;
    stats.relay_in_use = true;
    StreamStats& video = stats.streams.emplace_back();
    video.kind = "video";
    std::lock_guard video_lock(video_mutex_);
    if (video_) {
        video_->add_to(video);
        video.target_bitrate = video_->kbps() * 1000.0;
    }
    std::lock_guard lock(mutex_);
    video.packets_sent = packets_;
    video.bytes_sent = bytes_;
    if (sound_) stats.streams.push_back(sound_stats());
    return stats;
}

// Under both locks.
StreamStats SocketPeer::sound_stats() const {
    StreamStats sound;
    sound.kind = "audio";
    sound.target_bitrate = sound_->bits_per_second();
    sound.packets_sent = sound_packets_;
    sound.bytes_sent = sound_bytes_;
    return sound;
}

void SocketPeer::end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, goodbye, [this] { return !socket_ || (texts_.empty() && !writing_); });
    ending_ = true;
    shut_down();
}

}  // namespace svc::streamer
