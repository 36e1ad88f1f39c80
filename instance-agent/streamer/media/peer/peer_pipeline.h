#pragma once
// The elements of one peer: webrtcbin in the middle, what is sent before it.
#include <gst/gst.h>

#include <memory>
#include <string>

#include "instance-agent/streamer/client/peer.h"
#include "instance-agent/streamer/media/gst_handles.h"
#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/peer/answer_check.h"
#include "instance-agent/streamer/media/peer/data_channels.h"

namespace svc::streamer {

// One thread at a time. What it is given outlives it.
class PeerPipeline {
  public:
    // Has no sections yet. Throws unsupported.
    PeerPipeline(const PeerSetup& setup, std::shared_ptr<SendMeters> meters);

    GstElement* pipeline() const { return pipeline_.get(); }
    GstElement* webrtc() const { return webrtc_.get(); }

    Offered offer(DataChannels& channels);  // makes all sections, once; throws unsupported
    void send_display(GstElement* bin);     // into its section; throws unavailable
    void end();                             // nothing moves any more

  private:
    void set_ice_servers();
    void add_sound();
    void add_camera();
    void add_display();
    void add_channels(DataChannels& channels);
    Ref<GstPad> offer_to_send(const std::string& caps, int direction, bool resend);
    void send_through(GstElement* bin, GstPad* sink);
    static void on_element(GstBin*, GstBin*, GstElement* element, gpointer data);

    const PeerSetup& setup_;
    std::shared_ptr<SendMeters> meters_;
    Ref<GstElement> pipeline_, webrtc_;
    Offered offered_;
    Ref<GstPad> display_sink_;
};

}  // namespace svc::streamer
