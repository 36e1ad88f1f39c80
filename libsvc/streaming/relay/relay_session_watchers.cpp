#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/streaming/relay/relay_session.h"

// The watchers of a session: clients beside the one that is present. Nothing of theirs waits for an instance
// that is away; each can come again.
namespace svc {

namespace {

const StreamEnd not_ready("instance is not ready", end_code::not_ready);

}  // namespace

RelaySession::Watcher* RelaySession::watcher_of(const Socket& socket) {
    const auto found = std::ranges::find(watchers_, socket, &Watcher::socket);
    return found == watchers_.end() ? nullptr : &*found;
}

RelaySession::Watcher* RelaySession::watcher_named(const std::string& id) {
    const auto found = std::ranges::find(watchers_, id, &Watcher::id);
    return found == watchers_.end() ? nullptr : &*found;
}

void RelaySession::watcher_opened(const Socket& socket, const RelayClient& client) {
    if (!instance_.registered || !instance_.watchable)
        return dismiss(*socket, CloseCode::try_again_later, not_ready);
    if (watchers_.size() >= context_->limits.signalling_watchers)
        return dismiss(*socket, CloseCode::try_again_later,
                       {"too many clients begin to watch", end_code::refused});
    watchers_.push_back({client.id, socket, false, {}});
    log::debug("watcher connected", {{"session", id_}, {"client", client.id}});
    events_.emplace_back([id = id_](RelayEvents& events) { events.client_connected(id); });
    tell_of_watcher(joined_message(client));
}

void RelaySession::watcher_message(Watcher& watcher, bool binary, std::string text) {
    const std::string id = watcher.id;
    try {
        check_client_message(watcher.rate, binary, text);
        tell_of_watcher(of_client(std::move(text), id));
    } catch (const Refusal& refusal) {
        dismiss_watcher(id, refusal.code, refusal.end);
    } catch (const Error& e) {
        dismiss_watcher(id, CloseCode::policy, {e.what(), end_code::refused});
    }
    if (Watcher* const present = watcher_named(id); present != nullptr && instance_is_slow()) {
        present->held = true;
        present->socket->pause_reading();
    }
}

// When the instance cannot be told, it is dropped, and all watchers with it.
void RelaySession::tell_of_watcher(std::string text) {
    send_to_instance(std::make_shared<const std::string>(std::move(text)));
}

void RelaySession::relay_to_watcher(Watcher& watcher, std::string text) {
    if (watcher.socket->queued_bytes() + text.size() <= context_->limits.queued_bytes) {
        watcher.socket->send_text(std::move(text));
        return;
    }
    const std::string id = watcher.id;
    watcher.socket->close(CloseCode::try_again_later, "messages are not read");
    forget_watcher(id, "timeout");
}

void RelaySession::dismiss_watcher(const std::string& id, CloseCode code, const StreamEnd& end) {
    Watcher* const watcher = watcher_named(id);
    if (watcher == nullptr) return;
    dismiss(*watcher->socket, code, end);
    forget_watcher(id, "disconnected");
}

void RelaySession::forget_watcher(const std::string& id, std::string_view reason) {
    std::erase_if(watchers_, [&](const Watcher& one) { return one.id == id; });
    note_client_gone();
    if (instance_.registered) tell_of_watcher(left_message(id, reason, true));
}

void RelaySession::dismiss_watchers(CloseCode code, const StreamEnd& end) {
    for (const Watcher& watcher : std::exchange(watchers_, {})) dismiss(*watcher.socket, code, end);
}

void RelaySession::lose_watchers() {
    dismiss_watchers(CloseCode::try_again_later, not_ready);
}

void RelaySession::let_watchers_go_on() {
    for (Watcher& watcher : watchers_)
        if (std::exchange(watcher.held, false)) watcher.socket->resume_reading();
}

}  // namespace svc
