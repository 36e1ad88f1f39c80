#include "tests/model/event_follower.h"

#include <sys/socket.h>

#include "tests/support/eventually.h"

namespace svc::test {

EventFollower::EventFollower(const Target& target)
    : socket_(target, "/1.0/events"), thread_([this] { follow(); }) {}

EventFollower::~EventFollower() {
    ::shutdown(socket_.descriptor(), SHUT_RDWR);
}

void EventFollower::follow() {
    while (auto message = socket_.receive()) {
        if (message->kind == WebSocketMessage::Kind::closed) return;
        Json event = Json::parse(message->data);
        if (event.at("type") == Json("operation") && event.at("metadata").at("status_code").as_int() >= 200)
            ended_.with([&](auto& ended) { ++ended[event.at("metadata").at("id").as_string()]; });
        events_.with([&](auto& events) { events.push_back(std::move(event)); });
    }
}

void EventFollower::await_ends(const OperationRecords& operations) const {
    eventually("the ends of all operations are told", [&] {
        return ended_.with([&](const auto& ended) {
            for (const auto& [id, record] : operations)
                if (!ended.contains(id)) return false;
            return true;
        });
    });
}

std::vector<Json> EventFollower::events() const {
    return events_.with([](const auto& events) { return events; });
}

}  // namespace svc::test
