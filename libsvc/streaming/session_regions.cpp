// What the management services tell of the instances.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

void SessionService::Implementation::region_answers(const std::string& region) {
    if (!calls_.post([this, region] { resync(region); }) && !stopping_)
        log::error("instances of a region not compared", {{"region", region}});
}

void SessionService::Implementation::instance_changed(const std::string& region,
                                                      const std::string& instance) {
    if (instance.empty()) return region_answers(region);
    for (const Ptr& session : records_.list())
        if (session->region == region && session->container_id == instance) schedule(session->id);
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
    std::erase_if(sessions, [&](const Ptr& session) { return session->region != region; });
    auto found = instances_of(region);
    for (const Ptr& session : sessions) {
        std::vector<StreamInstance>& own = found[session->id];
        std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
        try {
            reconcile(*session, own);
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
    const bool is_well = named != found.end() && named->status != "error" && named->status != "stopped";
    if (session.removal_due || (has_none ? session.status == created : !is_well)) schedule(session.id);
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
        return fail_instance(session.id, message.empty() ? "Container failed" : message, false);
    if (stopped) instance_stopped(session);
}

// The instance itself is of no use any more.
void SessionService::Implementation::instance_stopped(const StreamSession& session) {
    if (session.status == created)
        return fail_instance(session.id, "Container stopped before it was ready", false);
    const std::string reason = "Container stopped";
    const bool moved = change(session.id, [&](StreamSession& record) {
        if (record.removal_due || record.status != active) return false;
        set_status(record, terminated, reason);
        record.client_connected = false;
        record.removal_due = true;
        return true;
    });
    if (moved) after_end(session.id, reason);
}

void SessionService::Implementation::instance_gone(const StreamSession& session) {
    if (session.status == active) return finish(session.id, "Container was deleted");
    fail_instance(session.id, "Container was deleted before it was ready", true);
}

}  // namespace svc
