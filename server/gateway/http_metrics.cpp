#include "server/gateway/http_metrics.h"

#include <vector>

#include "libsvc/base/strings.h"

namespace svc::gateway {

namespace {

using Steady = std::chrono::steady_clock;

const std::vector<double> duration_bounds{.1, .25, .5, 1, 2.5, 5, 10};
const std::vector<double> size_bounds{200, 500, 900, 1500, 10'000, 100'000};

std::string method_label(Method method) {
    return to_lower(to_text(method));
}

// Counts a WebSocket, and hands its messages on to its handler.
class CountedSocket final : public WebSocketHandler {
  public:
    CountedSocket(HttpMetrics& metrics, std::shared_ptr<WebSocketHandler> socket, std::string label)
        : metrics_(metrics), socket_(std::move(socket)), label_(std::move(label)) {}
    ~CountedSocket() override { end(); }
    CountedSocket(const CountedSocket&) = delete;
    CountedSocket& operator=(const CountedSocket&) = delete;

    void on_open(std::shared_ptr<WebSocket> socket) override {
        open_ = true;
        metrics_.begin();
        socket_->on_open(std::move(socket));
    }
    void on_message(bool binary, std::string message) override {
        received_ += message.size();
        socket_->on_message(binary, std::move(message));
    }
    void on_sent() override { socket_->on_sent(); }
    void on_close(std::uint16_t code, std::string_view reason) override {
        end();
        socket_->on_close(code, reason);
    }

  private:
    void end() {
        if (!open_) return;
        open_ = false;
        metrics_.end();
        metrics_.count(label_, Method::get, {101, received_, 0, Steady::now() - begin_});
    }

    HttpMetrics& metrics_;
    std::shared_ptr<WebSocketHandler> socket_;
    const std::string label_;
    const Steady::time_point begin_ = Steady::now();
    std::uint64_t received_ = 0;
    bool open_ = false;
};

}  // namespace

HttpMetrics::HttpMetrics(MetricsRegistry& registry, std::string host)
    : registry_(registry),
      host_(std::move(host)),
      in_flight_(registry.gauge("stream_gateway_http_in_flight_requests",
                                "requests and WebSockets being served now")) {}

Labels HttpMetrics::labels(std::string_view handler, Method method) const {
    return {{"handler", std::string(handler)}, {"host", host_}, {"method", method_label(method)}};
}

HttpMetrics::Series& HttpMetrics::series(std::string_view handler, Method method) {
    std::lock_guard lock(mutex_);
    const auto key = std::make_pair(std::string(handler), method);
    const auto found = series_.find(key);
    if (found != series_.end()) return found->second;
    const Labels all = labels(handler, method);
    const Series made{
        registry_.histogram("stream_gateway_http_request_duration_seconds",
                            "from the header to the last byte sent, or to the WebSocket's end",
                            duration_bounds, all),
        registry_.histogram("stream_gateway_http_request_size_bytes", "bodies of requests", size_bounds, all),
        registry_.histogram("stream_gateway_http_response_size_bytes", "bodies of responses", size_bounds,
                            all)};
    return series_.emplace(key, made).first->second;
}

void HttpMetrics::announce(std::string_view handler, Method method) {
    series(handler, method);
}

void HttpMetrics::count(std::string_view handler, Method method, const ServedRequest& served) {
    Series& values = series(handler, method);
    values.duration.observe(std::chrono::duration<double>(served.duration).count());
    values.request_size.observe(static_cast<double>(served.received));
    values.response_size.observe(static_cast<double>(served.sent));
    Labels with_code = labels(handler, method);
    with_code.emplace_back("code", std::to_string(served.status));
    registry_.counter("stream_gateway_http_requests_total", "requests served", with_code).add();
}

std::shared_ptr<WebSocketHandler> HttpMetrics::counted(std::shared_ptr<WebSocketHandler> socket,
                                                       std::string_view handler) {
    return std::make_shared<CountedSocket>(*this, std::move(socket), std::string(handler));
}

}  // namespace svc::gateway
