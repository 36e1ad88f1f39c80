#include "server/cluster/event_follower.h"

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/base/metrics.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/cluster/client_identity.h"
#include "server/login/authenticate.h"

namespace svc::server {

namespace {

constexpr std::chrono::milliseconds look_around{500};  // whether another manager leads by now

// A manager asks as root of its own machine does.
Headers headers_of_manager(const Manager& self) {
    Peer root;
    root.listener = local_listener;
    Headers headers;
    add_client(headers, root, self.name);
    return headers;
}

}  // namespace

EventFollower::EventFollower(FollowedEvents events, const Leadership& leadership, Clock& clock,
                             std::function<PeerIdentity()> identity)
    : events_(std::move(events)), leadership_(leadership), clock_(clock), identity_(std::move(identity)) {}

EventFollower::~EventFollower() {
    stop();
}

void EventFollower::start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void EventFollower::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void EventFollower::render_lag(std::string& out) const {
    MetricFamily(out, "svc_manager_event_lag_seconds",
                 "age of the newest event of the leader when it came to this manager", "gauge")
        .add("", lag_.load());
}

void EventFollower::run(const std::stop_token& stop) {
    while (!stop.stop_requested() && !leadership_.here()) {
        const auto leader = leadership_.elsewhere();
        if (!leader) {
            leadership_.await(look_around);
            continue;
        }
        try {
            read(*leader, stop);
        } catch (const Error& e) {
            log::debug("events of the leader are not read", {{"error", e.what()}});
            clock_.wait(stop, look_around);
        }
    }
}

void EventFollower::read(const LeadingManager& leader, const std::stop_token& stop) {
    WebSocketClient stream(
        peer_target(identity_(), leader.manager.address),
        "/1.0/events?" + events_.query + "since=" + std::to_string(events_.bus.newest_sequence()),
        headers_of_manager(leadership_.membership().self()));
    while (!stop.stop_requested() && leadership_.elsewhere() == leader) {
        const auto message = stream.receive(look_around);
        if (!message) continue;
        if (message->kind == WebSocketMessage::Kind::closed)
            throw Error(ErrorCode::unavailable, "the stream ended: " + message->data);
        take(message->data);
    }
}

// An event that makes no sense is left out: asked for again it would be the same. A gap has no number: who
// reads the events from here finds it between the numbers.
void EventFollower::take(const std::string& text) {
    try {
        const Json event = Json::parse(text);
        const auto type = event_type(event.at("type").as_string());
        if (!type) return;
        const Duration age = clock_.now() - from_rfc3339(event.at("timestamp").as_string());
        lag_ = std::chrono::duration<double>(age).count();
        events_.bus.take({static_cast<std::uint64_t>(event.at("sequence").as_int()), *type,
                          std::make_shared<const std::string>(text)});
    } catch (const Error& e) {
        log::debug("an event of the leader makes no sense", {{"error", e.what()}});
    }
}

}  // namespace svc::server
