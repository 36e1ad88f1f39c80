#pragma once
// Statistics of the stream as lines for the node's metrics collector (specification: Streaming metrics).
#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/clock.h"
#include "libsvc/model/cluster/metrics_server.h"

namespace svc::streamer {

struct MetricLabels {
    std::string instance, app, region, session;
};

// One line for each stream and one for the connection.
std::vector<std::string> metric_lines(const MetricLabels& labels, const PeerStats& stats, Time now);
// Joins lines to texts of at most `limit` bytes. A longer line is a text of its own.
std::vector<std::string> batches(const std::vector<std::string>& lines, std::size_t limit);

// Sends on a thread of its own. Thread-safe. Samples that cannot be sent are lost.
class MetricsSender {
  public:
    static constexpr std::size_t max_waiting = 16, max_datagram = 1400;

    explicit MetricsSender(MetricsServer server);
    ~MetricsSender();  // sends what waits, if the server can be reached
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
    std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace svc::streamer
