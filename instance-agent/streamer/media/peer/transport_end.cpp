#include "instance-agent/streamer/media/peer/transport_end.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"

namespace svc::streamer {
namespace {

constexpr std::chrono::milliseconds patience{300};
constexpr gsize sctp_header = 12;
constexpr guint8 sctp_abort = 6, dtls_alert = 21;

// Waits for a packet with this value at this offset.
class Passing {
  public:
    Passing(gsize place, guint8 value) : place_(place), value_(value) {}

    void look_at(GstBuffer* buffer) {
        guint8 byte = 0;
        if (gst_buffer_extract(buffer, place_, &byte, 1) != 1 || byte != value_) return;
        std::lock_guard lock(mutex_);
        seen_ = true;
        changed_.notify_all();
    }
    bool wait() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [this] { return seen_; });
    }

  private:
    const gsize place_;
    const guint8 value_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool seen_ = false;
};

GstPadProbeReturn packet_comes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    (*static_cast<std::shared_ptr<Passing>*>(data))->look_at(gst_pad_probe_info_get_buffer(info));
    return GST_PAD_PROBE_OK;
}

// The thread that sent the packet holds this lock, so it has finished when the lock is taken.
void wait_for(GstPad* pad, Passing& packet) {
    if (!packet.wait()) return;
    GST_PAD_STREAM_LOCK(pad);
    GST_PAD_STREAM_UNLOCK(pad);
}

std::vector<Ref<GstElement>> elements_in(GstElement* bin, const char* factory) {
    std::vector<Ref<GstElement>> found;
    GstIterator* const each = gst_bin_iterate_all_by_element_factory_name(GST_BIN(bin), factory);
    GValue item = G_VALUE_INIT;
    while (gst_iterator_next(each, &item) == GST_ITERATOR_OK) {
        found.emplace_back(GST_ELEMENT(g_value_dup_object(&item)));
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(each);
    return found;
}

Ref<GstPad> sink_of(GstElement* element) {
    Ref<GstPad> sink;
    const auto take = [](GstElement*, GstPad* pad, gpointer data) -> gboolean {
        static_cast<Ref<GstPad>*>(data)->reset(GST_PAD(gst_object_ref(pad)));
        return FALSE;
    };
    gst_element_foreach_sink_pad(element, take, &sink);
    return sink;
}

std::shared_ptr<Passing> watch(GstPad* pad, gsize place, guint8 value) {
    auto packet = std::make_shared<Passing>(place, value);
    add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, packet_comes, packet);
    return packet;
}

// The receiving element owns the association: stopping it makes usrsctp close its socket, which aborts the
// association; the sending element still sends that packet.
void abort_association(GstElement* webrtc, GstPad* encryption) {
    const auto aborted = watch(encryption, sctp_header, sctp_abort);
    const auto receivers = elements_in(webrtc, "sctpdec");
    for (const auto& receiver : receivers) gst_element_set_state(receiver.get(), GST_STATE_READY);
    if (!receivers.empty()) wait_for(encryption, *aborted);
}

// DTLS closes when its encoder gets end-of-stream.
void close_encryption(GstPad* encryption, GstPad* network) {
    const auto closed = watch(network, 0, dtls_alert);
    gst_pad_send_event(encryption, gst_event_new_eos());
    wait_for(network, *closed);
}

}  // namespace

void close_transports(GstElement* webrtc) {
    const auto encryptions = elements_in(webrtc, "dtlsenc");
    const auto networks = elements_in(webrtc, "nicesink");
    if (encryptions.size() != 1 || networks.size() != 1) return;  // all sections share one transport
    const auto encryption = sink_of(encryptions.front().get()), network = sink_of(networks.front().get());
    if (!encryption || !network) return;
    abort_association(webrtc, encryption.get());
    close_encryption(encryption.get(), network.get());
}

}  // namespace svc::streamer
