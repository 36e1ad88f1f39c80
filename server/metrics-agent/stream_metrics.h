#pragma once
// The table of streaming metrics: the fields that instances may send, and their names and types for
// Prometheus.
#include <array>
#include <optional>
#include <string_view>

namespace svc::metrics_agent {

// Instances send `webrtc,<labels> <field>=<value>,...`; a field is shown as webrtc_<field>.
inline constexpr std::string_view stream_measurement = "webrtc";

struct StreamMetric {
    std::string_view field;  // "frames_encoded"
    std::string_view type;   // "counter", "gauge"
    std::string_view help;
};

inline constexpr std::array<StreamMetric, 15> stream_metrics{{
    {"frames_encoded", "counter", "frames encoded"},
    {"key_frames_encoded", "counter", "key frames among them"},
    {"total_encode_time", "counter", "seconds spent encoding"},
    {"target_bitrate", "gauge", "bits per second that the encoder aims at"},
    {"bytes_sent", "counter", "bytes sent"},
    {"retransmitted_bytes_sent", "counter", "bytes sent again"},
    {"retransmitted_packets_sent", "counter", "packets sent again"},
    {"total_packet_send_delay", "counter", "seconds that packets waited to be sent"},
    {"packets_sent", "counter", "packets sent, those sent again included"},
    {"nack_count", "counter", "requests to send packets again"},
    {"fir_count", "counter", "full intra requests"},
    {"pli_count", "counter", "picture loss indications"},
    {"sli_count", "counter", "slice loss indications"},
    {"gpu_encoder", "gauge", "1 while a GPU encodes the stream"},
    {"relay_in_use", "gauge", "1 while a relay carries the stream"},
}};

std::optional<std::size_t> find_stream_metric(std::string_view field);  // its place in the table

}  // namespace svc::metrics_agent
