// What the management services tell of the instances.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

namespace {

bool has_refused(const StreamSession& session, const std::string& region) {
    return std::ranges::find(session.refusals, region, &RegionRefusal::region) != session.refusals.end();
}

std::string reason_of(const std::vector<RegionRefusal>& refusals) {
    if (refusals.size() == 1) return refusals.front().reason;
    std::string text;
    for (const RegionRefusal& refusal : refusals)
        text += (text.empty() ? "" : "; ") + refusal.region + ": " + refusal.reason;
    return text;
}

}  // namespace

void SessionService::Implementation::region_answers(const std::string& region) {
    const auto compare = [this, region] {
        try {
            resync(region);
        } catch (const Error& e) {
            log::debug("instances of a region not compared", {{"region", region}, {"error", e.what()}});
        }
    };
    if (!calls_.post(region, compare) && !stopping_)
        log::error("instances of a region not compared", {{"region", region}});
}

void SessionService::Implementation::instance_changed(const std::string& region,
                                                      const std::string& instance) {
    if (instance.empty()) return region_answers(region);
    for (const std::string& session : index_.sessions_of(region, instance)) schedule(session);
}

// By session.
std::map<std::string, std::vector<StreamInstance>> SessionService::Implementation::instances_of(
    const std::string& region) {
    try {
        std::map<std::string, std::vector<StreamInstance>> found;
        for (StreamInstance& instance : regions_.management(region).instances())
            if (instance.status != "deleted") found[instance.session].push_back(std::move(instance));
        return found;
    } catch (const Error&) {
        unknown_regions_.with([&](auto& regions) { regions.insert(region); });
        throw;
    }
}

// Those of unknown sessions belong to somebody else.
void SessionService::Implementation::resync(const std::string& region) {
    if (stopping_) return;
    std::vector<Ptr> sessions = records_.list();
    std::erase_if(sessions, [&](const Ptr& session) {
        return session->region != region && !has_refused(*session, region);
    });
    auto found = instances_of(region);
    for (const Ptr& session : sessions) {
        std::vector<StreamInstance>& own = found[session->id];
        std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
        try {
            session->region == region ? reconcile(*session, own) : remove_left_behind(region, own);
        } catch (const Error& e) {
            log::warning("session not compared with its instance",
                         {{"session", session->id}, {"error", e.what()}});
        }
    }
}

// The list may be older than the record: it only says what is worth looking at.
void SessionService::Implementation::reconcile(const StreamSession& session,
                                               const std::vector<StreamInstance>& found) {
    const auto named = std::find_if(found.begin(), found.end(), [&](const StreamInstance& instance) {
        return instance.id == session.container_id;
    });
    const bool has_none = session.container_id.empty();
    if (session.status == terminated && !session.removal_due) {
        if (!found.empty()) end_again(session);
        return;
    }
    if (!session.removal_due && (has_none ? !found.empty() : named != found.end() && found.size() > 1))
        return adopt(session, found);
    if (named != found.end()) note_running(session, *named);
    const bool is_well = named != found.end() && named->status != "error" && named->status != "stopped";
    if (session.removal_due || (has_none ? session.status != error : !is_well)) schedule(session.id);
}

// It has an instance although it was over: one that was launched twice.
void SessionService::Implementation::end_again(const StreamSession& session) {
    const bool changed = change(session.id, [](StreamSession& record) {
        return record.status == terminated && !std::exchange(record.removal_due, true);
    });
    if (changed) schedule(session.id);
}

void SessionService::Implementation::check(const StreamSession& session) {
    observe(session, answering(session.region).instance(session.container_id));
}

void SessionService::Implementation::observe(const StreamSession& session,
                                             const std::optional<StreamInstance>& instance) {
    if (!instance || instance->status == "deleted") return instance_gone(session);
    const std::string& message = instance->error_message;
    const bool stopped = instance->status == "stopped";
    if (instance->status == "error" || (stopped && !message.empty()))
        return fail_instance(session, message.empty() ? "Container failed" : message, false);
    if (stopped) instance_stopped(session);
    note_running(session, *instance);
}

// Of a session whose instance has not connected yet.
void SessionService::Implementation::note_running(const StreamSession& session,
                                                  const StreamInstance& instance) {
    if (session.status != created || instance.status != "running") return;
    const SteadyTime now = clock_.steady_now();
    running_.with([&](auto& running) {
        Running& seen = running[session.id];
        if (seen.instance != instance.id) seen = {instance.id, now};
    });
}

// The instance itself is of no use any more.
void SessionService::Implementation::instance_stopped(const StreamSession& session) {
    if (session.status == created)
        return fail_instance(session, "Container stopped before it was ready", false);
    const std::string reason = "Container stopped";
    bool outdated = false;  // it may have been started since
    const bool moved = change(session.id, [&](StreamSession& record) {
        outdated = has_moved(session, record);
        if (outdated || record.removal_due || record.status != active) return false;
        set_status(record, terminated, reason);
        record.client_connected = false;
        record.removal_due = true;
        return true;
    });
    if (moved) after_end(session.id, {reason, end_code::stopped});
    if (outdated) schedule(session.id);
}

void SessionService::Implementation::instance_gone(const StreamSession& session) {
    if (session.status == active)
        return finish(session.id, {"Container was deleted", end_code::instance_deleted});
    if (session.status == created && !session.launch_operation.empty()) {
        const std::string reason = answering(session.region).launch_failure(session.launch_operation);
        if (!reason.empty()) {
            regions_.note_refusal(session.region);
            return launch_refused(session, reason);
        }
    }
    fail_instance(session, "Container was deleted before it was ready", true);
}

// It registered before its launch was answered, and went before its session learned which one it is.
void SessionService::Implementation::instance_missing(const StreamSession& session) {
    const bool others = session.worker != self_ && session.worker_until > clock_.now();
    if (session.status == active && !others && !relay_.is_registered(session.id)) instance_gone(session);
}

// Its region has nothing of it. Each of the others is asked once, if any will do.
void SessionService::Implementation::launch_refused(const StreamSession& session, const std::string& reason) {
    StreamSession after = session;
    after.refusals.push_back({session.region, fit_reason(reason)});
    const std::string next = next_region(after);
    const std::string why = fit_reason(reason_of(after.refusals));
    const bool moved = change(session.id, [&](StreamSession& record) {
        if (record.removal_due || record.status != created || record.region != session.region ||
            record.container_id != session.container_id)
            return false;
        record.refusals = after.refusals;
        record.container_id.clear();
        record.launch_operation.clear();
        if (next.empty())
            set_status(record, error, why);
        else
            record.region = next;
        return true;
    });
    if (!moved) return;
    if (next.empty()) return note_failure(session.id, why);
    log::info("session goes to another region", {{"session", session.id},
                                                 {"from", session.region},
                                                 {"to", next},
                                                 {"reason", after.refusals.back().reason}});
    schedule(session.id);
}

std::string SessionService::Implementation::next_region(const StreamSession& session) const {
    if (!session.any_region) return "";
    if (!regions_.all_asked())
        throw Error(ErrorCode::unavailable, "not every region has been asked for its applications yet");
    std::set<std::string> refused;
    for (const RegionRefusal& refusal : session.refusals) refused.insert(refusal.region);
    try {
        return regions_.choose(
            {session.app, session.app_version},
            [this](const std::string& region) { return index_.open_in(region); }, refused);
    } catch (const Error&) {
        return "";  // nobody else answers and has the application
    }
}

// By a launch that the region heard although it had refused another one of the same session.
void SessionService::Implementation::remove_left_behind(const std::string& region,
                                                        const std::vector<StreamInstance>& found) {
    for (const StreamInstance& instance : found) {
        log::warning("instance of a session that is in another region",
                     {{"session", instance.session}, {"region", region}, {"instance", instance.id}});
        regions_.management(region).remove(instance.id, true, stop_.get_token());
    }
}

}  // namespace svc
