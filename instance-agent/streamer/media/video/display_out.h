#pragma once
// The encoded display on its way to one client: takes the frames of an encoder that several may share, and
// makes packets of them.
#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/meters/meters.h"
#include "instance-agent/streamer/media/video/display_encoder.h"

namespace svc::streamer {

// Thread-safe after construction. The pipeline owns the elements and must outlive this object.
class DisplayOut {
  public:
    // `failed` is called on a thread of the encoder. Throws unsupported.
    DisplayOut(std::shared_ptr<DisplayEncoder> encoder, std::shared_ptr<SendMeter> sent,
               std::function<void(const std::string& reason)> failed);

    GstElement* bin() const { return bin_.get(); }  // has a pad `src`; add it to the pipeline
    void begin();                                   // starts sending: the client can receive
    // Another encoder of the same codec; null: none for a while.
    void encode_by(std::shared_ptr<DisplayEncoder> encoder);
    void set_kbps(std::uint32_t kbps);  // for all who share the encoder
    std::uint32_t kbps() const;         // 0: there is none
    void request_key_frame();
    void skip();  // the client is behind: nothing goes to it until a later key frame
    void add_to(StreamStats& stats) const;

  private:
    class Inlet;
    static GstPadProbeReturn client_asks(GstPad*, GstPadProbeInfo* info, gpointer data);

    std::shared_ptr<DisplayEncoder> encoder() const;

    Ref<GstElement> bin_;
    std::shared_ptr<SendMeter> sent_;
    std::shared_ptr<Inlet> inlet_;
    Guarded<std::shared_ptr<DisplayEncoder>> encoder_;
};

}  // namespace svc::streamer
