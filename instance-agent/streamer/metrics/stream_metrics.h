#pragma once
// The stream's own figures as lines for the collector of the node (specification: Streaming metrics).
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "instance-agent/streamer/client/peer.h"
#include "libsvc/base/clock.h"
#include "libsvc/model/cluster/metrics_server.h"

namespace svc::streamer {

struct MetricLabels {
    std::string instance, app, region, session;
};

// A line for each stream, and one for the connection.
std::vector<std::string> metric_lines(const MetricLabels& labels, const PeerStats& stats, Time now);
// Joined to texts of at most `limit` bytes; longer lines stand alone.
std::vector<std::string> batches(const std::vector<std::string>& lines, std::size_t limit);

// Sends on a thread of its own. Thread-safe. What cannot be sent is lost: the next sample comes soon.
class MetricsSender {
  public:
    static constexpr std::size_t max_waiting = 16, max_datagram = 1400;

    explicit MetricsSender(MetricsServer server);
    ~MetricsSender();  // sends what waits, unless the server cannot be reached
    MetricsSender(const MetricsSender&) = delete;
    MetricsSender& operator=(const MetricsSender&) = delete;
    void send(const std::vector<std::string>& lines);

  private:
    void run(const std::stop_token& stop);
    void send_now(const std::vector<std::string>& lines) const;
    void send_datagrams(const std::vector<std::string>& texts) const;

    MetricsServer server_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<std::vector<std::string>> waiting_;
    bool complained_ = false;
    std::jthread thread_;  // last: starts when all else is there
};

}  // namespace svc::streamer
