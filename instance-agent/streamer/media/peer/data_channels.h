#pragma once
// The data channels that the client has opened. Custom ones that its settings did not announce are ignored.
#include <gst/gst.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "instance-agent/streamer/media/peer/event_gate.h"
#include "libsvc/base/guarded.h"

typedef struct _GstWebRTCDataChannel GstWebRTCDataChannel;  // NOLINT(bugprone-reserved-identifier)

namespace svc::streamer {

// Thread-safe.
class DataChannels : public std::enable_shared_from_this<DataChannels> {
  public:
    // Each channel costs two threads of GStreamer, so their number is limited.
    static constexpr int most_channels = 32;

    DataChannels(std::vector<std::string> names, std::shared_ptr<EventGate> gate);
    ~DataChannels();
    DataChannels(const DataChannels&) = delete;
    DataChannels& operator=(const DataChannels&) = delete;

    void listen_to(GstElement* webrtc);  // call before the pipeline runs
    bool send(const std::string& name, bool binary, std::string_view data);
    std::size_t buffered(const std::string& name) const;
    void flush();  // waits a moment until sent data has left

  private:
    struct Channel;
    static void on_channel(GstElement*, GstWebRTCDataChannel* object, gboolean local, gpointer data);
    void adopt(GstWebRTCDataChannel* object);
    std::shared_ptr<Channel> find_open(const std::string& name) const;

    std::vector<std::string> names_;
    std::shared_ptr<EventGate> gate_;
    std::atomic<int> seen_ = 0;
    Guarded<std::map<std::string, std::shared_ptr<Channel>>> channels_;
};

}  // namespace svc::streamer
