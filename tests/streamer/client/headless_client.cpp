#include "tests/streamer/client/headless_client.h"

#include "instance-agent/streamer/media/peer/transport_end.h"
#include "tests/streamer/session/client_session.h"

namespace svc::streamer {

Colour ClientPicture::at(int x, int y) const {
    const std::size_t place = (static_cast<std::size_t>(y) * width + x) * 4;
    return {pixels.at(place), pixels.at(place + 1), pixels.at(place + 2)};
}

HeadlessClient::HeadlessClient(ClientWish wish, ClientSignals signals)
    : implementation_(std::make_shared<Implementation>(std::move(wish), std::move(signals))) {
    implementation_->start();
}

HeadlessClient::~HeadlessClient() {
    implementation_->stop();
}

void HeadlessClient::take_offer(const std::string& sdp) {
    implementation_->take_offer(sdp);
}

void HeadlessClient::add_candidate(const std::string& candidate, unsigned media_line) {
    g_signal_emit_by_name(implementation_->webrtc.get(), "add-ice-candidate", guint{media_line},
                          candidate.c_str());
}

bool HeadlessClient::wait_connected(Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    return implementation_->changed.wait_for(lock, longest, [&] { return implementation_->connected; });
}

bool HeadlessClient::wait_frames(std::uint64_t count, Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    return implementation_->changed.wait_for(lock, longest, [&] { return implementation_->frames >= count; });
}

bool HeadlessClient::wait_picture(const std::function<bool(const ClientPicture&)>& as_wished,
                                  Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    return implementation_->changed.wait_for(lock, longest, [&] {
        return implementation_->picture.width > 0 && as_wished(implementation_->picture);
    });
}

bool HeadlessClient::wait_channel(const std::string& name, Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    return implementation_->changed.wait_for(lock, longest, [&] { return implementation_->open[name]; });
}

std::optional<int> HeadlessClient::wait_abort(Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    implementation_->changed.wait_for(lock, longest,
                                      [&] { return implementation_->abort_cause.has_value(); });
    return implementation_->abort_cause;
}

bool HeadlessClient::wait_closed(Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    return implementation_->changed.wait_for(lock, longest, [&] { return implementation_->closed; });
}

std::optional<ClientMessage> HeadlessClient::next_message(Duration longest) {
    std::unique_lock lock(implementation_->mutex);
    auto& messages = implementation_->messages;
    if (!implementation_->changed.wait_for(lock, longest, [&] { return !messages.empty(); }))
        return std::nullopt;
    ClientMessage message = std::move(messages.front());
    messages.pop_front();
    return message;
}

bool HeadlessClient::send(const std::string& channel, bool binary, std::string_view data) {
    std::shared_ptr<GstWebRTCDataChannel> object;
    {
        std::lock_guard lock(implementation_->mutex);
        object = implementation_->channels[channel];
    }
    if (!object) return false;
    if (!binary)
        return gst_webrtc_data_channel_send_string_full(object.get(), std::string(data).c_str(), nullptr);
    GBytes* const bytes = g_bytes_new(data.data(), data.size());
    const bool sent = gst_webrtc_data_channel_send_data_full(object.get(), bytes, nullptr);
    g_bytes_unref(bytes);
    return sent;
}

void HeadlessClient::close_channel(const std::string& channel) {
    std::shared_ptr<GstWebRTCDataChannel> object;
    {
        std::lock_guard lock(implementation_->mutex);
        object = implementation_->channels[channel];
    }
    if (object) gst_webrtc_data_channel_close(object.get());
}

void HeadlessClient::leave() {
    close_transports(implementation_->webrtc.get());
}

void HeadlessClient::request_key_frame() {
    std::lock_guard lock(implementation_->mutex);
    if (implementation_->video_pad)
        gst_pad_send_event(implementation_->video_pad.get(),
                           gst_video_event_new_upstream_force_key_unit(GST_CLOCK_TIME_NONE, FALSE, 0));
}

std::uint64_t HeadlessClient::frames() const {
    std::lock_guard lock(implementation_->mutex);
    return implementation_->frames;
}

std::uint64_t HeadlessClient::sound_packets() const {
    std::lock_guard lock(implementation_->mutex);
    return implementation_->sound_packets;
}

std::optional<HeadlessClient::Moment> HeadlessClient::first_frame() const {
    std::lock_guard lock(implementation_->mutex);
    return implementation_->first_frame;
}

void HeadlessClient::on_picture(std::function<void(const ClientPicture&, Moment)> listener) {
    std::lock_guard lock(implementation_->mutex);
    implementation_->listener = std::move(listener);
}

}  // namespace svc::streamer
