#include "instance-agent/streamer/media/peer/data_channels.h"

#define GST_USE_UNSTABLE_API
#include <gst/webrtc/webrtc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

constexpr std::chrono::milliseconds patience{300}, look{2};

}  // namespace

struct DataChannels::Channel {
    std::string name;
    Ref<GstWebRTCDataChannel> object;
    std::shared_ptr<EventGate> gate;
    std::atomic<bool> told_open = false, told_closed = false;

    GstWebRTCDataChannelState state() const {
        GstWebRTCDataChannelState now{};
        g_object_get(object.get(), "ready-state", &now, nullptr);
        return now;
    }
    bool is_open() const { return state() == GST_WEBRTC_DATA_CHANNEL_STATE_OPEN; }
    bool is_closed() const { return state() == GST_WEBRTC_DATA_CHANNEL_STATE_CLOSED; }
    void opened() {
        if (!told_open.exchange(true)) gate->tell([&](PeerEvents& events) { events.channel_opened(name); });
    }
    void closed() {
        if (told_open && !told_closed.exchange(true))
            gate->tell([&](PeerEvents& events) { events.channel_closed(name); });
    }
    // A message can arrive before the event that its channel is open.
    void message(bool binary, std::string_view data) {
        opened();
        gate->tell([&](PeerEvents& events) { events.channel_message(name, binary, data); });
    }

    static void on_open(GstWebRTCDataChannel*, gpointer data) {
        if (const auto channel = held<Channel>(data)) channel->opened();
    }
    static void on_close(GstWebRTCDataChannel*, gpointer data) {
        if (const auto channel = held<Channel>(data)) channel->closed();
    }
    static void on_text(GstWebRTCDataChannel*, const gchar* text, gpointer data) {
        if (const auto channel = held<Channel>(data)) channel->message(false, text != nullptr ? text : "");
    }
    static void on_bytes(GstWebRTCDataChannel*, GBytes* bytes, gpointer data) {
        const auto channel = held<Channel>(data);
        if (!channel) return;
        gsize size = 0;
        const void* const start = bytes != nullptr ? g_bytes_get_data(bytes, &size) : nullptr;
        channel->message(true, {static_cast<const char*>(start), size});
    }
};

DataChannels::DataChannels(std::vector<std::string> names, std::shared_ptr<EventGate> gate)
    : names_(std::move(names)), gate_(std::move(gate)) {
    for (const std::string_view own : {control_label, clipboard_label, files_label}) names_.emplace_back(own);
}

DataChannels::~DataChannels() = default;

// This signal is emitted before any message; `on-data-channel` can come after the first one.
void DataChannels::listen_to(GstElement* webrtc) {
    connect(webrtc, "prepare-data-channel", G_CALLBACK(&DataChannels::on_channel), shared_from_this());
}

void DataChannels::on_channel(GstElement*, GstWebRTCDataChannel* object, gboolean local, gpointer data) {
    const auto channels = held<DataChannels>(data);
    if (!channels || local) return;
    if (++channels->seen_ == most_channels + 1)
        channels->gate_->tell([](PeerEvents& events) { events.failed("too many data channels"); });
    // The label is set between this signal and the opening of the channel.
    connect(object, "on-open", G_CALLBACK(+[](GstWebRTCDataChannel* opened, gpointer held_data) {
                if (const auto held_channels = held<DataChannels>(held_data)) held_channels->adopt(opened);
            }),
            channels);
    channels->adopt(object);
}

void DataChannels::adopt(GstWebRTCDataChannel* object) {
    gchar* text = nullptr;
    g_object_get(object, "label", &text, nullptr);
    const TextRef label(text);
    if (!label || std::find(names_.begin(), names_.end(), label.get()) == names_.end()) return;
    auto channel = std::make_shared<Channel>();
    channel->name = label.get();
    channel->object.reset(GST_WEBRTC_DATA_CHANNEL(gst_object_ref(object)));
    channel->gate = gate_;
    const bool taken = channels_.with([&](auto& channels) {
        auto& place = channels[channel->name];
        if (place && (place->object.get() == object || place->is_open())) return true;
        place = channel;
        return false;
    });
    if (taken) return;
    connect(object, "on-open", G_CALLBACK(&Channel::on_open), channel);
    connect(object, "on-close", G_CALLBACK(&Channel::on_close), channel);
    connect(object, "on-message-string", G_CALLBACK(&Channel::on_text), channel);
    connect(object, "on-message-data", G_CALLBACK(&Channel::on_bytes), channel);
    if (channel->is_open()) channel->opened();
}

std::shared_ptr<DataChannels::Channel> DataChannels::find_open(const std::string& name) const {
    const auto channel = channels_.with([&](const auto& channels) {
        const auto found = channels.find(name);
        return found == channels.end() ? nullptr : found->second;
    });
    return channel && channel->is_open() ? channel : nullptr;
}

bool DataChannels::send(const std::string& name, bool binary, std::string_view data) {
    const auto channel = find_open(name);
    if (!channel) return false;
    GError* error = nullptr;
    gboolean sent = FALSE;
    if (binary) {
        GBytes* const bytes = g_bytes_new(data.data(), data.size());
        sent = gst_webrtc_data_channel_send_data_full(channel->object.get(), bytes, &error);
        g_bytes_unref(bytes);
    } else if (g_utf8_validate(data.data(), static_cast<gssize>(data.size()), nullptr)) {
        sent = gst_webrtc_data_channel_send_string_full(channel->object.get(), std::string(data).c_str(),
                                                        &error);
    }
    if (error != nullptr) g_error_free(error);
    return sent != FALSE;
}

std::size_t DataChannels::buffered(const std::string& name) const {
    const auto channel = find_open(name);
    guint64 waiting = 0;
    if (channel) g_object_get(channel->object.get(), "buffered-amount", &waiting, nullptr);
    return waiting;
}

void DataChannels::flush() {
    const auto names = channels_.with([](const auto& channels) {
        std::vector<std::string> names;
        for (const auto& [name, channel] : channels) names.push_back(name);
        return names;
    });
    const auto has_left = [&](const std::string& name) { return buffered(name) == 0; };
    const auto latest = std::chrono::steady_clock::now() + patience;
    while (!std::all_of(names.begin(), names.end(), has_left) && std::chrono::steady_clock::now() < latest)
        std::this_thread::sleep_for(look);
}

}  // namespace svc::streamer
