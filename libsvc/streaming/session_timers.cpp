// What time does to sessions.
#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

namespace {

// A region that has been away for so long is not waited for.
constexpr std::chrono::hours forget_time{7 * 24};
constexpr std::size_t renewed_together = 256;
constexpr int attempts_together = 5;

std::string minutes_text(std::chrono::minutes minutes) {
    return std::to_string(minutes.count()) + (minutes.count() == 1 ? " minute" : " minutes");
}

}  // namespace

void SessionService::Implementation::tick() {
    if (stopping_) return;
    const std::vector<Ptr> sessions = records_.list();
    try {
        renew_claims(sessions);
    } catch (const Error& e) {
        log::warning("claims of sessions not renewed", {{"error", e.what()}});
    }
    for (const Ptr& session : sessions) {
        try {
            look_at(*session);
        } catch (const Error& e) {
            log::warning("session not looked after", {{"session", session->id}, {"error", e.what()}});
        }
    }
    retry_events();
    retry_failed();
    forget_clients();
    forget_running();
    tell_all_waiting();
}

void SessionService::Implementation::retry_failed() {
    const SteadyTime now = clock_.steady_now();
    std::vector<std::string> due;
    duties_.with([&](const auto& duties) {
        for (const auto& [id, duty] : duties)
            if (!duty.running && duty.failures > 0 && duty.due <= now) due.push_back(id);
    });
    for (const std::string& id : due) schedule(id);
    std::set<std::string> regions;
    unknown_regions_.with([&](auto& unknown) { regions.swap(unknown); });
    for (const std::string& region : regions) region_answers(region);
}

// Of sessions that were never kept.
void SessionService::Implementation::forget_clients() {
    const Time now = clock_.now();
    std::vector<std::string> due;
    expected_.with([&](const auto& clients) {
        for (const auto& [id, client] : clients)
            if (client.until <= now) due.push_back(id);
    });
    for (const std::string& id : due)
        if (!records_.find(id)) expect_nobody(id);
}

// Of sessions that moved on.
void SessionService::Implementation::forget_running() {
    running_.with([this](auto& running) {
        std::erase_if(running, [this](const auto& entry) {
            const Ptr session = records_.find(entry.first);
            return !session || session->status != created;
        });
    });
}

void SessionService::Implementation::look_at(const StreamSession& session) {
    if (session.removal_due) return look_at_ending(session);
    if (session.status != terminated) return look_at_live(session);
    if (session.ephemeral || clock_.now() - session.changed_at >= config_.limits.keep)
        drop(session.id, "session ended");
}

// A region that hangs makes many sessions wait for their turn: a commit for each would take longer than a
// tick.
void SessionService::Implementation::renew_claims(const std::vector<Ptr>& sessions) {
    const Time now = clock_.now();
    std::vector<std::string> due;
    for (const Ptr& session : sessions)
        if (session->worker == self_ && session->worker_until - now <= claim_time / 2 &&
            is_working(session->id))
            due.push_back(session->id);
    for (std::size_t i = 0; i < due.size(); i += renewed_together)
        renew(std::span(due).subspan(i, std::min(renewed_together, due.size() - i)));
}

void SessionService::Implementation::renew(std::span<const std::string> ids) {
    const auto extend = [this, until = clock_.now() + claim_time](StreamSession& record) {
        if (record.worker != self_) return false;
        record.worker_until = until;
        return true;
    };
    for (int attempt = 0; attempt < attempts_together; ++attempt) {
        Batch together;
        for (const std::string& id : ids) if_known([&] { records_.stage_update(together, id, extend); });
        try {
            store_.commit(together);
            return;
        } catch (const Error& e) {
            if (e.code() != ErrorCode::conflict) throw;  // else somebody has changed one of them
        }
    }
    for (const std::string& id : ids) change(id, extend);
}

void SessionService::Implementation::look_at_ending(const StreamSession& session) {
    const Duration since = clock_.now() - session.changed_at;
    if (session.forgotten && since >= forget_time) return drop(session.id, session.status_message);
    if (session.status == terminating && !session.forgotten && since >= config_.limits.deletion) {
        const std::string reason = "Container was not deleted in time";
        change(session.id, [&](StreamSession& record) {
            if (record.status != terminating || record.forgotten || !record.removal_due) return false;
            set_status(record, error, reason);
            return true;
        });
        log::warning("session failed", {{"session", session.id}, {"reason", reason}});
    }
    schedule_due(session.id);
}

// What ended already stays as it is.
bool SessionService::Implementation::is_ownerless(const StreamSession& session) const {
    if (!config_.has_owner || session.account.empty()) return false;
    return !session.removal_due && session.status != terminated && !config_.has_owner(session.account);
}

void SessionService::Implementation::end_ownerless() {
    for (const Ptr& session : records_.list())
        if (is_ownerless(*session)) terminate(session->id, {"Account was deleted", end_code::deleted});
}

// Media goes past us: that it flows is known from the instance alone.
bool SessionService::Implementation::is_silent(const StreamSession& session) {
    const SteadyTime now = clock_.steady_now();
    const bool is_away = session.client_connected && !relay_.is_registered(session.id);
    return silent_.with([&](auto& since) {
        if (is_away) return now - since.emplace(session.id, now).first->second >= config_.limits.silent;
        since.erase(session.id);
        return false;
    });
}

void SessionService::Implementation::end_media(const StreamSession& session) {
    log::warning("streaming instance does not answer", {{"session", session.id}});
    stream_ended(session.id, {"Instance does not answer", end_code::stopped}, session.status != error);
}

// Whoever shows the screen connects when the guest is up, or is not there.
bool SessionService::Implementation::has_no_streamer(const StreamSession& session) const {
    if (relay_.is_registered(session.id)) return false;
    const SteadyTime now = clock_.steady_now();
    return running_.with([&](const auto& running) {
        const auto found = running.find(session.id);
        return found != running.end() && found->second.instance == session.container_id &&
               now - found->second.since >= config_.limits.streamer;
    });
}

// Of a session that is `created`; "": it may still start.
std::string SessionService::Implementation::start_failure(const StreamSession& session) const {
    if (has_no_streamer(session))
        return "no streamer in the instance connected within " + format_duration(config_.limits.streamer);
    if (clock_.now() - session.created_at < config_.limits.launch) return "";
    return "Container failed to start: " + why_not_started(session);
}

// What the launch limit was spent on.
std::string SessionService::Implementation::why_not_started(const StreamSession& session) const {
    if (!regions_.answers(session.region)) return "region " + quoted(session.region) + " does not answer";
    const std::string limit = format_duration(config_.limits.launch);
    if (session.container_id.empty()) return "it was not launched within " + limit;
    return "it did not connect to the gateway within " + limit;
}

// Why a session failed is what its end tells, too.
StreamEnd SessionService::Implementation::idle_end(const StreamSession& session) const {
    if (session.status == error) return {session.status_message, end_code::expired};
    return {"Idle for " + minutes_text(std::chrono::minutes(session.idle_time_min)), end_code::idle};
}

void SessionService::Implementation::look_at_live(const StreamSession& session) {
    const Time now = clock_.now();
    if (is_ownerless(session)) return terminate(session.id, {"Account was deleted", end_code::deleted});
    if (is_silent(session)) return end_media(session);
    const std::chrono::minutes idle(session.idle_time_min);
    if (idle.count() > 0 && !session.client_connected && now - session.client_left_at >= idle)
        return terminate(session.id, idle_end(session));
    if (const std::string failure = session.status == created ? start_failure(session) : ""; !failure.empty())
        return fail(session.id, failure);
    if (session.status == error && now - session.changed_at >= config_.limits.keep_failed)
        return terminate(session.id, {session.status_message, end_code::expired});
    if (is_deserted(session, now)) return end_deserted(session);
    if (session.status != created) return;
    if (relay_.is_registered(session.id)) return activate(session.id);
    const bool others = session.worker != self_ && session.worker_until > now;
    if (session.container_id.empty() && !others) schedule_due(session.id);
}

// Sessions in error stay for a while: somebody may want to know why.
bool SessionService::Implementation::is_deserted(const StreamSession& session, Time now) const {
    if (session.joinable || session.client_connected || session.status == error) return false;
    return expected_.with([&](const auto& clients) {
        const auto found = clients.find(session.id);
        if (found == clients.end() || found->second.until > now) return false;
        return !found->second.is_there || session.status == active;
    });
}

void SessionService::Implementation::end_deserted(const StreamSession& session) {
    const bool is_there = expected_.with([&](const auto& clients) {
        const auto found = clients.find(session.id);
        return found != clients.end() && found->second.is_there;
    });
    if (is_there) if_known([&] { relay_.fail_client(session.id, {"no answer in time", end_code::expired}); });
    const char* const reason = is_there             ? "Client did not answer"
                               : session.had_client ? "Client left"
                                                    : "Client did not connect";
    terminate(session.id, {reason, is_there ? end_code::expired : end_code::client_left});
}

}  // namespace svc
