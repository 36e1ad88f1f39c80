#include "libsvc/streaming/relay/relay_session.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

// The instance's half of a session.
namespace svc {

namespace {

constexpr unsigned missed_pings = 3;  // then the instance is lost
constexpr std::size_t max_encoder_name = 64;

}  // namespace

void RelaySession::ping(SteadyTime now) {
    if (instance_.unanswered == missed_pings) {
        log::warning("instance does not answer the gateway", {{"session", id_}});
        if (!instance_.registered) return refuse_instance(CloseCode::policy, "instance did not register");
        instance_.socket->abort();
        return drop_instance();
    }
    ++instance_.unanswered;
    instance_.next_ping = now + context_->limits.ping;
    instance_.socket->send_text(R"({"type":"ctl:ping"})");
}

void RelaySession::instance_opened(const Socket& socket) {
    bool served = false;
    locked([&] {
        served = true;
        if (instance_.socket) instance_.socket->close(CloseCode::normal, "replaced");
        instance_ = {};
        instance_.socket = socket;
        instance_.next_ping = context_->clock.steady_now() + context_->limits.ping;
        let_client_go_on();
        lose_watchers();
    });
    if (!served) socket->close(CloseCode::normal, "session ended");
}

void RelaySession::instance_message(const Socket& socket, bool binary, std::string text) {
    locked([&] {
        if (instance_.socket != socket) return;
        const RelayLimits& limits = context_->limits;
        if (instance_.rate.exceeds(limits.instance_messages_per_minute, context_->clock.steady_now()))
            return refuse_instance(CloseCode::policy, "too many messages");
        if (text.size() > limits.message_bytes)
            return refuse_instance(CloseCode::too_big, "message is too big");
        if (binary) return refuse_instance(CloseCode::policy, "binary messages are not understood");
        try {
            const RelayMessage message(std::move(text));
            instance_.unanswered = instance_.registered ? 0 : instance_.unanswered;
            message.is_control() ? control(message) : relay_to_client(message);
        } catch (const Error& e) {
            refuse_instance(CloseCode::policy, e.what());
        }
    });
}

void RelaySession::control(const RelayMessage& message) {
    const JsonFields fields(message.body());
    const std::string& type = message.type();
    if (type == "ctl:register") return register_instance(fields);
    if (type == "ctl:pong") return;
    if (!instance_.registered) throw Error(ErrorCode::invalid_argument, "instance has not registered");
    if (type == "ctl:status") return note_status(fields);
    if (type != "ctl:stream") return log::debug("control message is not known", {{"type", quoted(type)}});
    const auto active = fields.boolean("active");
    if (!active) throw Error(ErrorCode::invalid_argument, "active is required");
    std::string encoder = fields.string("video_encoder").value_or("");
    if (encoder.size() > max_encoder_name)
        throw_invalid("video_encoder", "is longer than " + std::to_string(max_encoder_name) + " bytes");
    events_.emplace_back([id = id_, active, encoder = std::move(encoder)](RelayEvents& events) {
        events.stream_changed(id, *active, encoder);
    });
}

void RelaySession::register_instance(const JsonFields& fields) {
    if (fields.require_string("session_id") != id_)
        throw Error(ErrorCode::invalid_argument, "session_id is not the one of this session");
    const auto features = fields.strings("features").value_or(std::vector<std::string>());
    instance_.takes_media = std::ranges::find(features, "media") != features.end();
    instance_.watchable = std::ranges::find(features, "watch") != features.end();
    instance_.registered = announced_ = true;
    instance_.unanswered = 0;
    for (auto& one : expected_) one.failure.reset();  // it has come back
    events_.emplace_back([id = id_](RelayEvents& events) { events.instance_registered(id); });
    flush();
}

void RelaySession::note_status(const JsonFields& fields) {
    const std::string status = fields.require_string("status");
    if (status != "running" && status != "error") throw_invalid("status", "must be running or error");
    events_.emplace_back([id = id_, failed = status == "error",
                          message = fields.string("message").value_or("")](RelayEvents& events) {
        events.instance_status(id, failed, message);
    });
}

void RelaySession::relay_to_client(const RelayMessage& message) {
    if (!instance_.registered) throw Error(ErrorCode::invalid_argument, "instance has not registered");
    const std::string& client = message.client();
    if (Watcher* const watcher = watcher_named(client))
        return relay_to_watcher(*watcher, message.without_client());
    if (!client_ || !client_->socket || client_->id != client) return;
    std::string text = message.without_client();
    if (client_->socket->queued_bytes() + text.size() <= context_->limits.queued_bytes) {
        client_->socket->send_text(std::move(text));
        return;
    }
    client_->socket->close(CloseCode::try_again_later, "messages are not read");
    note_client_gone();
    client_leaves("timeout");
}

void RelaySession::to_instance(std::string text) {
    waiting_.push_back(std::make_shared<const std::string>(std::move(text)));
    if (instance_.registered) flush();
}

// What cannot be sent goes on waiting.
void RelaySession::flush() {
    std::size_t sent = 0;
    while (sent < waiting_.size() && send_to_instance(waiting_[sent])) ++sent;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(sent));
    if (waiting_.empty()) waiting_.shrink_to_fit();
    if (!client_ || client_->told) return;
    client_->told = client_->join < sent;
    client_->join -= std::min(client_->join, sent);
}

bool RelaySession::send_to_instance(const Text& text) {
    if (!instance_.registered) return false;
    if (!instance_has_room(text->size())) {
        log::warning("instance does not read its messages", {{"session", id_}});
        instance_.socket->abort();
        drop_instance();
        return false;
    }
    if (instance_.socket->send_shared_text(text)) return true;
    drop_instance();  // it is closing: the next connection gets the message
    return false;
}

bool RelaySession::instance_has_room(std::size_t bytes) const {
    return instance_.socket->queued_bytes() + bytes <= context_->limits.queued_bytes;
}

void RelaySession::refuse_instance(CloseCode code, std::string_view reason) {
    if (!instance_.socket) return;
    log::warning("connection of an instance is ended", {{"session", id_}, {"reason", std::string(reason)}});
    dismiss(*instance_.socket, code, {std::string(reason), end_code::refused});
    drop_instance();
}

void RelaySession::drop_instance() {
    instance_ = {};
    let_client_go_on();
    lose_watchers();
    if (std::exchange(announced_, false))
        events_.emplace_back([id = id_](RelayEvents& events) { events.instance_lost(id); });
}

void RelaySession::instance_has_read(const Socket& socket) {
    locked([&] {
        if (instance_.socket != socket) return;
        let_client_go_on();
        let_watchers_go_on();
    });
}

void RelaySession::instance_closed(const Socket& socket) {
    locked([&] {
        if (instance_.socket == socket) drop_instance();
    });
}

}  // namespace svc
