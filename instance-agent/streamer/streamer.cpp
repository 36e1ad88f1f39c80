#include "instance-agent/streamer/streamer.h"

#include <future>
#include <utility>

#include "instance-agent/streamer/client/socket_peer.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr std::chrono::seconds goodbye{1};
constexpr std::size_t message_overhead = 256;  // so that empty messages count too

// The gateway's own messages contain credentials and are not logged.
bool is_of_client(const std::string& text) try {
    const Json message = Json::parse(text);
    return !JsonFields(message).require_string("type").starts_with("ctl:");
} catch (const Error&) {
    return true;
}

std::uint32_t kilobits(const JsonFields& items, std::string_view key) {
    const std::int64_t value = items.integer(key).value_or(0);
    return value > 0 && value <= UINT32_MAX ? static_cast<std::uint32_t>(value) : 0;
}

std::unique_ptr<MetricsSender> sender_to(const std::optional<MetricsServer>& server) {
    return server ? std::make_unique<MetricsSender>(*server) : nullptr;
}

std::unique_ptr<MicrophoneWatch> watch_microphone(const Options& options, EventQueue& queue,
                                                  GuestWishes& wishes) {
    if (options.audio_server.empty()) return nullptr;
    return std::make_unique<MicrophoneWatch>(options.audio_server, [&](bool in_use) {
        queue.post([&wishes, in_use] { wishes.microphone(in_use); });
    });
}

// `parts` outlives the factory.
SocketPeerFactory socket_peers(const StreamerParts& parts) {
    return [&parts](PeerSetup setup, const std::string& client, PeerEvents& events) {
        return std::make_unique<SocketPeer>(std::move(setup), client, parts.start.gateway, parts.codecs,
                                            parts.open_video, parts.open_sound, parts.open_microphone,
                                            events);
    };
}

// Without it the guest streams all the same.
std::unique_ptr<CaptureSocket> open_capture_socket(const std::filesystem::path& path, Captures captures) try {
    return std::make_unique<CaptureSocket>(path, std::move(captures));
} catch (const Error& e) {
    log::warning("nobody can take screenshots", {{"reason", e.what()}});
    return nullptr;
}

}  // namespace

Json register_message(const StreamStart& start, const std::vector<VideoCodec>& codecs, bool sends_media) {
    Json names = Json::array(), features = Json::array({"watch"});
    if (sends_media) features.push_back("media");
    for (const VideoCodec codec : codecs) names.push_back(to_text(codec));
    return Json::object({{"type", "ctl:register"},
                         {"session_id", start.session_id},
                         {"version", SVC_VERSION},
                         {"codecs", std::move(names)},
                         {"features", std::move(features)}});
}

Streamer::Streamer(StreamerParts parts, Clock& clock)
    : parts_(std::move(parts)),
      clock_(clock),
      queue_(clock),
      client_input_(*parts_.input),
      injected_(parts_.options.api_socket, queue_,
                [this](const std::string& type, const Json& data) { tell_client(type, data); }),
      resizes_(queue_, [this](const ScreenWish& wish) { resize(wish); }),
      control_(client_input_, injected_,
               {[this] { audience_.end_media(); }, [this](const ScreenWish& wish) { resizes_.ask(wish); }},
               clock),
      camera_(
          parts_.options.api_socket, queue_, [this] { return audience_.peer(); },
          [this](const std::string& type, const Json& data) { tell_client(type, data); }),
      wishes_(camera_, [this](const std::string& type, const Json& data) { tell_client(type, data); }),
      metrics_(sender_to(parts_.facts.metrics_server)),
      rtc_log_(parts_.options.traces_directory, clock),
      audience_(
          *this, parts_.make_peer, queue_, [this] { tell_stream(); },
          parts_.open_video ? socket_peers(parts_) : SocketPeerFactory()),
      page_writer_(
          queue_, [this] { return audience_.peer(); },
          [this](const std::string& channel, std::size_t bytes) { channels_.taken(channel, bytes); }),
      channels_(
          parts_.options.channels_directory,
          [this](const std::string& channel, std::string data) {
              queue_.post([this, channel, data = std::move(data)] { page_writer_.write(channel, data); });
          }),
      page_channels_(
          queue_, clock, [this] { return audience_.peer(); }, parts_.make_clipboard,
          parts_.options.download_directory),
      microphone_(watch_microphone(parts_.options, queue_, wishes_)),
      captures_(open_capture_socket(parts_.options.capture_socket, std::move(parts_.captures))),
      agent_(parts_.options.guest_socket, clock,
             {[this](Json answer) { queue_.post([this, answer = std::move(answer)] { attached(answer); }); },
              [this](const std::string& name, Json members) {
                  queue_.post([this, name, members = std::move(members)] { agent_event(name, members); });
              }}),
      gateway_(parts_.start.gateway, clock,
               {[this] { queue_.post([this] { register_at_gateway(); }); },
                [this](std::string text) {
                    const std::size_t weight = text.size() + message_overhead;
                    queue_.post_when_room(weight, [this, text = std::move(text)] { from_gateway(text); });
                },
                [] {}}) {}

Streamer::~Streamer() {
    queue_.stop();  // the gateway link's thread may wait in post_when_room()
    audience_.end_all_media();
}

void Streamer::run() {
    show_screen({parts_.start.width, parts_.start.height, parts_.start.density});
    queue_.run();
}

void Streamer::stop() {
    queue_.post([this] { end(); });
}

void Streamer::end() {
    audience_.end({"the instance or its streamer was stopped", end_code::stopped});
    queue_.stop();
}

// Any other thread posts to the queue and waits; the queue's own thread may notice the loss itself and then
// calls directly.
void Streamer::display_lost() {
    if (queue_.runs_here()) return part();
    const auto said = std::make_shared<std::promise<void>>();
    auto done = said->get_future();
    queue_.post([this, said] {
        part();
        said->set_value();
    });
    done.wait_for(goodbye);
}

// The queue's next work may block on the lost display.
void Streamer::part() {
    if (!std::exchange(parted_, true))
        audience_.say_goodbye({"the instance's screen is gone", end_code::stopped});
}

void Streamer::terminate(const std::string& reason) {
    log::info("the session ends", {{"reason", reason}});
    queue_.stop();
}

void Streamer::to_gateway(const Json& message) {
    if (message.find("client_id") != nullptr) rtc_log_.note("sent", {{"message", message}});
    gateway_.send(message.dump());
}

void Streamer::from_gateway(const std::string& text) {
    if (log_rtc_ && is_of_client(text)) rtc_log_.note("received", {{"message", text}});
    audience_.from_gateway(text);
}

void Streamer::register_at_gateway() {
    audience_.gateway_is_back();
    to_gateway(register_message(parts_.start, parts_.codecs, parts_.open_video != nullptr));
    to_gateway(Json::object({{"type", "ctl:status"}, {"status", "running"}}));
    tell_stream();  // also when no media flows: an earlier streamer may have died while streaming
}

// The element that encodes what the client sees; "": no media flows.
std::string Streamer::video_encoder() {
    if (!audience_.is_active()) return "";
    for (const Peer* const peer : audience_.peers())
        for (const StreamStats& stream : peer->stats().streams)
            if (!stream.encoder.empty()) return stream.encoder;
    return "";
}

void Streamer::tell_stream() {
    Json message = Json::object({{"type", "ctl:stream"}, {"active", audience_.is_active()}});
    if (const std::size_t watchers = audience_.watchers(); watchers > 0) message.set("watchers", watchers);
    if (const std::string encoder = video_encoder(); !encoder.empty()) message.set("video_encoder", encoder);
    to_gateway(message);
}

void Streamer::show_screen(const ScreenWish& wish) {
    const int width = wish.width != 0 ? wish.width : size_.width;
    const int height = wish.height != 0 ? wish.height : size_.height;
    change_size(allowed_size(width, height));
    if (wish.density != 0) parts_.screen->set_density(density_ = wish.density);
    parts_.input->resized(size_.width, size_.height);
    if (captures_) captures_->show({places(), size_.width, size_.height});
    log::info("screen", {{"width", std::to_string(size_.width)}, {"height", std::to_string(size_.height)}});
}

// What captures an X display does not bear that it changes its size.
void Streamer::change_size(const ScreenSize& size) {
    const bool moves = size != size_;
    if (moves)
        for (Peer* const peer : audience_.peers()) peer->hide_screen();
    size_ = parts_.screen->resize(size);
    if (moves)
        for (Peer* const peer : audience_.peers()) peer->show_screen(size_.width, size_.height);
}

// While a client steers. A size that it has already would interrupt the picture for nothing.
void Streamer::resize(const ScreenWish& wish) {
    if (audience_.peer() == nullptr || wish.width == 0 || wish.height == 0) return;
    const bool same_density = wish.density == 0 || wish.density == density_;
    if (same_density && allowed_size(wish.width, wish.height) == size_) return;
    show_screen(wish);
}

MediaPlaces Streamer::places() const {
    MediaPlaces places;
    places.display = parts_.options.display;
    places.guest_display = parts_.guest_display;
    places.frame_socket = places.display.empty() ? parts_.options.frame_socket.string() : "";
    return places;
}

PeerSetup Streamer::peer_setup() {
    PeerSetup setup;
    std::error_code ignored;
    setup.places = places();
    if (std::filesystem::exists(parts_.options.audio_server,
                                ignored))  // the guest may start its sound server later
        setup.places.audio_server = parts_.options.audio_server;
    setup.width = size_.width;
    setup.height = size_.height;
    setup.fps = parts_.start.fps;
    setup.bitrates = bitrates_;
    setup.encoder = parts_.facts.encoder;
    setup.log_rtc = log_rtc_;
    return setup;
}

std::vector<std::string> Streamer::capabilities() const {
    std::vector<std::string> names = page_channels_.capabilities();
    names.emplace_back("resize");
    if (automotive_) names.emplace_back("vhal");
    return names;
}

void Streamer::stream_began() {
    log::info("the client sees the instance");
    rtc_log_.note("connected");
    tell_stream();
    agent_.set_active(true);
    queue_.after(metrics_interval, [this, stream = ++stream_] { sample(stream); });
}

// A key that stays down would repeat.
void Streamer::client_silent() {
    rtc_log_.note("silent");
    client_input_.release_all();
}

void Streamer::stream_ended() {
    log::info("the client has gone");
    send_metrics();
    ++stream_;
    agent_.set_active(false);
    tell_stream();
}

void Streamer::peer_ended() {
    client_input_.release_all();
    control_.client_gone();
    injected_.client_gone();
    wishes_.client_gone();
    channels_.close_all();
    page_channels_.client_gone();
    resizes_.forget();
    page_writer_.forget_all();
    rtc_log_.end();
}

void Streamer::control_lost() {
    page_channels_.control_lost();
    wishes_.control_lost();
    peer_ended();
}

void Streamer::channel_opened(const std::string& label) {
    rtc_log_.note("channel opened", {{"channel", label}});
    if (label == control_label) return wishes_.client_ready(audience_.settings());
    if (page_channels_.opened(label)) return;
    try {
        channels_.open(label);
    } catch (const Error& e) {
        log::warning("data channel has no socket", {{"error", e.what()}});
    }
}

void Streamer::channel_closed(const std::string& label) {
    rtc_log_.note("channel closed", {{"channel", label}});
    if (label == control_label) {
        client_input_.release_all();  // the client cannot release keys any more
        return wishes_.client_gone();
    }
    if (page_channels_.closed(label)) return;
    channels_.close(label);
    page_writer_.forget(label);
}

void Streamer::channel_message(const std::string& label, bool binary, const std::string& data) {
    if (label == control_label) return control_.take(data);
    if (!page_channels_.take(label, binary, data)) channels_.to_guest(label, data);
}

// Clients expect the data of these messages as JSON text within JSON.
void Streamer::tell_client(const std::string& type, const Json& data) {
    Peer* const peer = audience_.peer();
    if (peer == nullptr) return;
    const std::string label(control_label);
    if (peer->buffered(label) > max_control_buffered) return end_of_patience();
    peer->send(label, false, Json::object({{"type", type}, {"data", data.dump()}}).dump());
}

// Posted: the caller may be in the middle of a message to the client.
void Streamer::end_of_patience() {
    queue_.post([this, number = audience_.steering()] {
        log::warning("the client does not listen");
        audience_.end_steering(number, {"the client does not read its messages", end_code::not_read});
    });
}

void Streamer::attached(const Json& answer) try {
    const JsonFields fields(answer);
    automotive_ = fields.boolean("automotive").value_or(false);
    take_items(fields);
    wishes_.attached(fields);
    log::info("attached to the agent");
} catch (const Error& e) {
    log::warning("answer of the agent is not understood", {{"error", e.what()}});
}

void Streamer::agent_event(const std::string& name, const Json& members) try {
    const JsonFields fields(members);
    if (name == "stream.items") return take_items(fields);
    wishes_.event(name, fields);
} catch (const Error& e) {
    log::warning("event of the agent is not understood", {{"event", name}, {"error", e.what()}});
}

void Streamer::take_items(const JsonFields& items) {
    log_rtc_ = items.boolean("rtc_log").value_or(false);
    rtc_log_.enable(log_rtc_);
    page_channels_.allow(Permissions::from_items(items));
    bitrates_ = {kilobits(items, "bitrate_min_kbps"), kilobits(items, "bitrate_max_kbps")};
    for (Peer* const peer : audience_.peers()) peer->set_bitrates(bitrates_);
}

void Streamer::sample(unsigned stream) {
    if (stream != stream_) return;
    send_metrics();
    queue_.after(metrics_interval, [this, stream] { sample(stream); });
}

void Streamer::send_metrics() {
    for (const Peer* const peer : audience_.peers()) send_metrics_of(*peer);
}

void Streamer::send_metrics_of(const Peer& peer) {
    const StreamStart& start = parts_.start;
    const auto lines = metric_lines({parts_.facts.instance_id, start.app, start.region, start.session_id},
                                    peer.stats(), clock_.now());
    for (const std::string& line : lines) rtc_log_.note("figures", {{"line", line}});
    if (metrics_) metrics_->send(lines);
}

}  // namespace svc::streamer
