#include "instance-agent/streamer/client/gateway_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <random>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc::streamer {

namespace {

constexpr std::chrono::seconds farewell{5};  // time for the last messages to be sent

// A random part between half and all of the pause, so that not all instances reconnect at once to a gateway
// that restarted.
Duration some_of(Duration pause) {
    static thread_local std::minstd_rand chance(std::random_device{}());
    return std::chrono::nanoseconds(
        std::uniform_int_distribution<std::int64_t>(pause.count() / 2, pause.count())(chance));
}

std::size_t path_in(const std::string& url) {
    const std::size_t scheme = url.find("//");
    return scheme == std::string::npos ? url.size() : std::min(url.find('/', scheme + 2), url.size());
}

// "wss://host:port" or "ws://host:port".
Target target_in(const std::string& url, std::string_view member) {
    const bool tls = url.starts_with("wss://");
    if (!tls && !url.starts_with("ws://")) throw_invalid(member, "must begin with wss:// or ws://");
    return Target::parse((tls ? "https" : "http") + url.substr(tls ? 3 : 2));
}

std::vector<Target> all_of(const GatewayAddress& address) {
    std::vector<Target> all{address.target};
    all.insert(all.end(), address.others.begin(), address.others.end());
    return all;
}

}  // namespace

GatewayAddress GatewayAddress::parse(const std::string& url, const std::string& fingerprint,
                                     const std::string& server_name) {
    const std::size_t path = path_in(url);
    GatewayAddress address;
    address.target = target_in(url.substr(0, path), "control_url");
    address.target.server_fingerprint = fingerprint;
    address.target.server_name = server_name;
    address.path = path < url.size() ? url.substr(path) : "/";
    return address;
}

void GatewayAddress::add_other(const std::string& url) {
    Target other = target_in(url.substr(0, path_in(url)), "other_gateways");
    other.server_fingerprint = target.server_fingerprint;
    other.server_name = target.server_name;
    others.push_back(std::move(other));
}

GatewayLink::GatewayLink(GatewayAddress address, Clock& clock, GatewayListener listener)
    : path_(address.path),
      gateways_(all_of(address)),
      clock_(clock),
      listener_(std::move(listener)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

GatewayLink::~GatewayLink() {
    std::unique_lock lock(mutex_);
    thread_.request_stop();
    changed_.wait_for(lock, farewell, [this] { return !socket_ || (waiting_.empty() && !sending_); });
    ending_ = true;
    shut_down();
    lock.unlock();
    thread_.join();
}

void GatewayLink::shut_down() {
    if (socket_) ::shutdown(socket_->descriptor(), SHUT_RDWR);
}

void GatewayLink::send(std::string message) {
    std::lock_guard lock(mutex_);
    if (!socket_) return;
    if (waiting_.size() >= max_waiting) return shut_down();
    waiting_.push_back(std::move(message));
    changed_.notify_all();
}

void GatewayLink::run(const std::stop_token& stop) {
    Duration pause = first_pause;
    while (!stop.stop_requested()) {
        const SteadyTime begin = clock_.steady_now();
        if (serve(stop) && clock_.steady_now() - begin >= settled) pause = first_pause;
        if (!clock_.wait(stop, some_of(pause))) return;
        pause = std::min<Duration>(pause * 2, longest_pause);
    }
}

// Those that were not reached were tried without a pause between.
bool GatewayLink::serve(const std::stop_token& stop) {
    for (std::size_t tried = 0; tried < gateways_.size() && !stop.stop_requested(); ++tried) {
        if (serve_once(stop, gateways_[present_])) return true;
        present_ = (present_ + 1) % gateways_.size();
    }
    return false;
}

bool GatewayLink::serve_once(const std::stop_token& stop, const Target& gateway) try {
    const auto socket = std::make_shared<WebSocketClient>(gateway, path_, Headers(), patience, stop);
    {
        std::lock_guard lock(mutex_);
        if (ending_) return true;
        socket_ = socket;
        waiting_.clear();
    }
    log::info("connected to the gateway", {{"gateway", gateway.describe()}});
    listener_.opened();
    {
        const std::jthread sender([&](const std::stop_token& done) { send_waiting(done, *socket); });
        receive(*socket);
        std::lock_guard lock(mutex_);
        shut_down();  // wakes a sender that waits for the gateway
        socket_.reset();
        changed_.notify_all();
    }
    listener_.lost();
    return true;
} catch (const Error& e) {
    if (stop.stop_requested()) return false;
    log::warning("gateway cannot be reached", {{"gateway", gateway.describe()}, {"error", e.what()}});
    return false;
}

void GatewayLink::receive(WebSocketClient& socket) {
    while (auto message = socket.receive()) {
        if (message->kind == WebSocketMessage::Kind::closed) {
            log::info("connection to the gateway ended",
                      {{"code", std::to_string(message->close_code)}, {"reason", message->data}});
            return;
        }
        if (message->kind == WebSocketMessage::Kind::text) listener_.message(std::move(message->data));
    }
}

void GatewayLink::send_waiting(const std::stop_token& stop, WebSocketClient& socket) try {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
        if (stop.stop_requested()) return;
        const std::string message = std::move(waiting_.front());
        waiting_.pop_front();
        sending_ = true;
        lock.unlock();
        socket.send_text(message);
        lock.lock();
        sending_ = false;
        changed_.notify_all();
    }
} catch (const Error&) {
    std::lock_guard lock(mutex_);  // the receiving side reports the broken connection
    sending_ = false;
    changed_.notify_all();
}

}  // namespace svc::streamer
