#pragma once
// The GStreamer pipeline of one peer: webrtcbin and the elements that feed it.
#include <gst/gst.h>

#include <memory>
#include <string>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/probes.h"
#include "instance-agent/streamer/media/peer/answer_check.h"
#include "instance-agent/streamer/media/peer/data_channels.h"
#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

// One thread at a time. `setup` outlives it.
class PeerPipeline {
  public:
    // Makes the pipeline without media sections. Throws unsupported.
    PeerPipeline(const PeerSetup& setup, std::shared_ptr<SendMeters> meters);

    GstElement* pipeline() const { return pipeline_.get(); }
    GstElement* webrtc() const { return webrtc_.get(); }

    Offered offer(DataChannels& channels);  // adds all media sections; call once; throws unsupported
    void send_display(GstElement* bin);     // links the display to its section; throws unavailable
    void end();                             // stops the pipeline

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
