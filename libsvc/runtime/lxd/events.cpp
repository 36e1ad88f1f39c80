#include "libsvc/runtime/lxd/events.h"

#include <sys/socket.h>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "libsvc/runtime/lxd/connection.h"

namespace svc::lxd {

namespace {

constexpr Duration reconnect_pause = std::chrono::seconds(1);
constexpr std::string_view instances_prefix = "/1.0/instances/";

// The instance that an event is about; "" for anything else. Each member of a cluster tells of all.
std::string subject_of(const std::string& text, const std::string& member) {
    const Json event = Json::parse(text);
    if (!member.empty() && text_of(event, "location") != member) return "";
    const Json* metadata = event.find("metadata");
    std::string source = metadata == nullptr ? "" : text_of(*metadata, "source");
    source = source.substr(0, source.find('?'));
    return source.starts_with(instances_prefix) ? source.substr(instances_prefix.size()) : "";
}

}  // namespace

EventFeed::EventFeed(Target target, std::string member, Clock& clock,
                     std::function<void(const std::string&)> look)
    : target_(std::move(target)),
      member_(std::move(member)),
      clock_(clock),
      look_(std::move(look)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

EventFeed::~EventFeed() {
    thread_.request_stop();
    socket_.with([](int socket) {
        if (socket >= 0) ::shutdown(socket, SHUT_RDWR);
    });
}

void EventFeed::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        try {
            follow(stop);
        } catch (const Error& e) {
            log::debug("events of LXD are interrupted", {{"error", e.what()}});
        }
        clock_.wait(stop, reconnect_pause);
    }
}

void EventFeed::follow(const std::stop_token& stop) {
    WebSocketClient events(target_, "/1.0/events?type=lifecycle");
    const auto note = [&](int socket) { socket_.with([&](int& noted) { noted = socket; }); };
    note(events.descriptor());
    Rollback end;
    end.add("socket", [&] { note(-1); });
    if (!stop.stop_requested()) look_("");
    while (!stop.stop_requested()) {
        const auto message = events.receive();
        if (!message || message->kind == WebSocketMessage::Kind::closed) break;
        if (const std::string name = subject_of(message->data, member_); !name.empty()) look_(name);
    }
}

}  // namespace svc::lxd
