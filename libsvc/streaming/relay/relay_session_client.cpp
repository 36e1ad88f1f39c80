#include "libsvc/streaming/relay/relay_session.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

// The client's half of a session.
namespace svc {

namespace {

constexpr std::size_t hold_back_share = 4;  // a client waits while the instance has this part unread

}  // namespace

std::string of_client(std::string text, std::string_view client) {
    const RelayMessage message(std::move(text));
    if (message.is_control())
        throw Error(ErrorCode::forbidden, "type " + quoted(message.type()) + " is not for clients");
    return message.with_client(client);
}

std::string joined_message(const RelayClient& client) {
    Json message = Json::object(
        {{"type", "ctl:client-joined"},
         {"client_id", client.id},
         {"role", client.watches ? "watch" : "control"},
         {"stun_servers", client.stun_servers.is_array() ? client.stun_servers : Json::array()}});
    if (client.screen) message.set("screen", client.screen->to_json());
    return message.dump();
}

std::string left_message(std::string_view client, std::string_view reason, bool watches) {
    return Json::object({{"type", "ctl:client-left"},
                         {"client_id", client},
                         {"role", watches ? "watch" : "control"},
                         {"reason", reason}})
        .dump();
}

void RelaySession::client_opened(const Socket& socket, RelayAdmission admission) {
    bool served = false;
    locked([&] {
        served = true;
        if (!admission.failure && admission.client.watches) return watcher_opened(socket, admission.client);
        if (!admission.failure) return replace_client(socket, admission.client);
        dismiss(*socket, CloseCode::normal, *admission.failure);
    });
    if (!served) too_late(socket);
}

void RelaySession::too_late(const Socket& socket) const {
    std::lock_guard lock(mutex_);
    socket->send_text(end_->error().dump());
    socket->close(CloseCode::normal, "session ended");
}

// What waited of the one before matters to nobody now.
void RelaySession::replace_client(const Socket& socket, const RelayClient& client) {
    const auto before = std::exchange(client_, std::nullopt);
    if (before && before->socket) {
        before->socket->send_text(
            StreamEnd("another client has taken over", end_code::replaced).error().dump());
        before->socket->close(CloseCode::normal, "replaced");
    }
    if (before) waiting_.resize(before->told ? 0 : std::min(waiting_.size(), before->join));
    if (before && before->told) to_instance(left_message(before->id, "replaced"));
    client_ = Client{.id = client.id, .socket = socket, .join = waiting_.size(), .rate = {}};
    log::debug("client connected", {{"session", id_}, {"client", client.id}});
    events_.emplace_back([id = id_](RelayEvents& events) { events.client_connected(id); });
    to_instance(joined_message(client));
}

void RelaySession::client_message(const Socket& socket, bool binary, std::string text) {
    locked([&] {
        if (Watcher* const watcher = watcher_of(socket))
            return watcher_message(*watcher, binary, std::move(text));
        if (!has(socket)) return;
        try {
            check_client_message(client_->rate, binary, text);
            relay_to_instance(of_client(std::move(text), client_->id));
        } catch (const Refusal& refusal) {
            refuse_client(refusal.code, refusal.end);
        } catch (const Error& e) {
            refuse_client(CloseCode::policy, {e.what(), end_code::refused});
        }
    });
}

void RelaySession::check_client_message(RelayRate& rate, bool binary, const std::string& text) {
    const RelayLimits& limits = context_->limits;
    if (rate.exceeds(limits.client_messages_per_minute, context_->clock.steady_now()))
        throw Refusal{CloseCode::policy, {"too many messages", end_code::refused}};
    if (text.size() > limits.message_bytes)
        throw Refusal{CloseCode::too_big, {"message is too big", end_code::refused}};
    if (binary) throw Refusal{CloseCode::policy, {"binary messages are not understood", end_code::refused}};
}

void RelaySession::relay_to_instance(std::string text) {
    if (instance_.registered) {
        to_instance(std::move(text));
        return hold_client_back();
    }
    std::size_t bytes = text.size();
    for (const Text& one : waiting_) bytes += one->size();
    const std::size_t about = client_->told ? 0 : client_->join + 1;  // who left and who joined
    if (waiting_.size() - about >= context_->limits.queued_messages || bytes > context_->limits.queued_bytes)
        return refuse_client(CloseCode::try_again_later, {"instance is not ready", end_code::not_ready});
    to_instance(std::move(text));
}

void RelaySession::hold_client_back() {
    if (!client_ || !client_->socket || !instance_is_slow()) return;
    client_->held = true;
    client_->socket->pause_reading();
}

bool RelaySession::instance_is_slow() const {
    const std::size_t enough = context_->limits.queued_bytes / hold_back_share;
    return instance_.socket && instance_.socket->queued_bytes() > enough;
}

void RelaySession::let_client_go_on() {
    if (client_ && client_->socket && std::exchange(client_->held, false)) client_->socket->resume_reading();
}

void RelaySession::refuse_client(CloseCode code, const StreamEnd& end) {
    if (!client_ || !client_->socket) return;
    log::debug("connection of a client is ended", {{"session", id_}, {"reason", end.message}});
    note_client_gone();
    dismiss_client(code, end);
}

void RelaySession::dismiss_client(CloseCode code, const StreamEnd& end) {
    dismiss(*client_->socket, code, end);
    client_leaves("disconnected");
}

void RelaySession::note_client_gone() {
    events_.emplace_back([id = id_](RelayEvents& events) { events.client_disconnected(id); });
}

// An instance that never heard of it need not hear of it at all.
void RelaySession::client_leaves(std::string_view reason) {
    client_->socket.reset();
    if (client_->told) return to_instance(left_message(client_->id, reason));
    waiting_.resize(std::min(waiting_.size(), client_->join));
    client_.reset();
}

void RelaySession::client_closed(const Socket& socket) {
    locked([&] {
        if (const Watcher* const watcher = watcher_of(socket))
            return forget_watcher(std::string(watcher->id), "disconnected");
        if (!has(socket)) return;
        log::debug("client disconnected", {{"session", id_}, {"client", client_->id}});
        note_client_gone();
        client_leaves("disconnected");
    });
}

}  // namespace svc
