#include "libsvc/streaming/sessions/region_comparison.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

using enum SessionStatus;

namespace {

bool has_refused(const StreamSession& session, const std::string& region) {
    return std::ranges::find(session.refusals, region, &RegionRefusal::region) != session.refusals.end();
}

}  // namespace

void RegionComparison::schedule(const std::string& region) {
    const auto job = [this, region] {
        try {
            compare(region);
        } catch (const Error& e) {
            log::debug("instances of a region not compared", {{"region", region}, {"error", e.what()}});
        }
    };
    if (!parts_.work.call(region, job) && !parts_.stopping.stop_requested())
        log::error("instances of a region not compared", {{"region", region}});
}

void RegionComparison::retry_failed() {
    std::set<std::string> regions;
    failed_.with([&](auto& failed) { regions.swap(failed); });
    for (const std::string& region : regions) schedule(region);
}

std::map<std::string, std::vector<StreamInstance>> RegionComparison::instances_of(const std::string& region) {
    try {
        std::map<std::string, std::vector<StreamInstance>> found;
        for (StreamInstance& instance : parts_.regions.management(region).instances())
            if (instance.status != "deleted") found[instance.session].push_back(std::move(instance));
        return found;
    } catch (const Error&) {
        failed_.with([&](auto& regions) { regions.insert(region); });
        throw;
    }
}

void RegionComparison::compare(const std::string& region) {
    if (parts_.stopping.stop_requested()) return;
    std::vector<SessionPtr> sessions = parts_.records.all();
    std::erase_if(sessions, [&](const SessionPtr& session) {
        return session->region != region && !has_refused(*session, region);
    });
    auto found = instances_of(region);
    for (const SessionPtr& session : sessions) {
        std::vector<StreamInstance>& own = found[session->id];
        std::ranges::sort(own, {}, &StreamInstance::id);
        try {
            session->region == region ? reconcile(*session, own)
                                      : parts_.remover.remove_left_behind(region, own);
        } catch (const Error& e) {
            log::warning("session not compared with its instance",
                         {{"session", session->id}, {"error", e.what()}});
        }
    }
}

// The list may be older than the record: it only decides which sessions are worth looking at.
void RegionComparison::reconcile(const StreamSession& session, const std::vector<StreamInstance>& found) {
    const auto named = std::ranges::find(found, session.container_id, &StreamInstance::id);
    const bool has_none = session.container_id.empty();
    if (session.status == terminated && !session.removal_due) {
        if (!found.empty()) parts_.states.delete_again(session.id);  // one that was launched twice
        return;
    }
    if (!session.removal_due && (has_none ? !found.empty() : named != found.end() && found.size() > 1))
        return parts_.launcher.adopt(session, found);
    if (named != found.end()) parts_.observer.note_running(session, *named);
    const bool is_well = named != found.end() && named->status != "error" && named->status != "stopped";
    if (session.removal_due || (has_none ? session.status != error : !is_well))
        parts_.work.schedule(session.id);
}

}  // namespace svc
