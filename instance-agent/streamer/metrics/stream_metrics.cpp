#include "instance-agent/streamer/metrics/stream_metrics.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/formats/line_protocol.h"
#include "libsvc/net/client/direct_call.h"

namespace svc::streamer {

namespace {

constexpr std::chrono::seconds http_patience{5};

LineWriter begin_line(const MetricLabels& labels) {
    LineWriter line("webrtc");
    line.tag("instance", labels.instance).tag("app", labels.app).tag("region", labels.region);
    return line.tag("session", labels.session);
}

std::string line_of(const MetricLabels& labels, const StreamStats& stream, std::int64_t now) {
    LineWriter line = begin_line(labels);
    line.tag("kind", stream.kind).tag("ssrc", std::to_string(stream.ssrc));
    if (stream.kind == "video") {
        line.field("frames_encoded", stream.frames_encoded);
        line.field("key_frames_encoded", stream.key_frames_encoded);
        line.field("total_encode_time", stream.total_encode_time);
        line.field("fir_count", stream.fir_count);
        line.field("pli_count", stream.pli_count);
        line.field("sli_count", stream.sli_count);
    }
    line.field("target_bitrate", stream.target_bitrate);
    line.field("bytes_sent", stream.bytes_sent);
    line.field("retransmitted_bytes_sent", stream.retransmitted_bytes_sent);
    line.field("retransmitted_packets_sent", stream.retransmitted_packets_sent);
    line.field("total_packet_send_delay", stream.total_packet_send_delay);
    line.field("packets_sent", stream.packets_sent);
    line.field("nack_count", stream.nack_count);
    if (stream.kind == "video") line.field("gpu_encoder", std::uint64_t{stream.gpu_encoder ? 1U : 0U});
    return line.finish(now);
}

struct FreeAddresses {
    void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};

}  // namespace

std::vector<std::string> metric_lines(const MetricLabels& labels, const PeerStats& stats, Time now) {
    const std::int64_t time = now.time_since_epoch().count();
    std::vector<std::string> lines;
    for (const StreamStats& stream : stats.streams) lines.push_back(line_of(labels, stream, time));
    LineWriter connection = begin_line(labels);
    connection.field("relay_in_use", std::uint64_t{stats.relay_in_use ? 1U : 0U});
    lines.push_back(connection.finish(time));
    return lines;
}

std::vector<std::string> batches(const std::vector<std::string>& lines, std::size_t limit) {
    std::vector<std::string> texts;
    for (const std::string& line : lines) {
        if (texts.empty() || texts.back().size() + line.size() + 1 > limit) texts.emplace_back();
        texts.back() += line + "\n";
    }
    return texts;
}

MetricsSender::MetricsSender(MetricsServer server)
    : server_(std::move(server)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

MetricsSender::~MetricsSender() = default;

void MetricsSender::send(const std::vector<std::string>& lines) {
    std::lock_guard lock(mutex_);
    if (waiting_.size() >= max_waiting) return;
    waiting_.push_back(lines);
    changed_.notify_one();
}

// Sends the last sample before the thread ends.
void MetricsSender::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
        const std::vector<std::string> lines = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        try {
            send_now(lines);
            complained_ = false;
        } catch (const Error& e) {
            if (!std::exchange(complained_, true))
                log::warning("metrics cannot be sent", {{"error", e.what()}});
            if (stop.stop_requested()) return;
        }
        lock.lock();
    }
}

void MetricsSender::send_now(const std::vector<std::string>& lines) const {
    if (server_.raw) return send_datagrams(batches(lines, max_datagram));
    Target target;
    target.host = server_.host;
    target.port = server_.port;
    target.tls = false;
    ClientRequest request;
    request.method = Method::post;
    request.path = "/write?db=streaming&precision=ns";
    request.headers.add("Content-Type", "text/plain; charset=utf-8");
    for (const std::string& line : lines) request.body += line + "\n";
    request.timeout = http_patience;
    if (const int status = call_directly(target, request).status; status / 100 != 2)
        throw Error(ErrorCode::unavailable, "metrics server answered " + std::to_string(status));
}

void MetricsSender::send_datagrams(const std::vector<std::string>& texts) const {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* found = nullptr;
    if (const int error =
            getaddrinfo(server_.host.c_str(), std::to_string(server_.port).c_str(), &hints, &found);
        error != 0)
        throw Error(ErrorCode::unavailable,
                    std::string("metrics server has no address: ") + gai_strerror(error));
    const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
    const FileDescriptor socket(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    for (const std::string& text : texts)
        if (sendto(socket.get(), text.data(), text.size(), MSG_NOSIGNAL, found->ai_addr, found->ai_addrlen) <
            0)
            throw system_error("cannot send to the metrics server", errno);
}

}  // namespace svc::streamer
