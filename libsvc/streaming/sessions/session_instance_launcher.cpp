#include "libsvc/streaming/sessions/session_instance_launcher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/sessions/session_transitions.h"

namespace svc {

using enum SessionStatus;

namespace {

// Refusals with other codes are about the request: the next session may be launched there.
bool may_lack_room(const Error& refusal) {
    return refusal.code() != ErrorCode::not_found && refusal.code() != ErrorCode::invalid_argument;
}

std::string reason_of(const std::vector<RegionRefusal>& refusals) {
    if (refusals.size() == 1) return refusals.front().reason;
    std::string text;
    for (const RegionRefusal& refusal : refusals)
        text += (text.empty() ? "" : "; ") + refusal.region + ": " + refusal.reason;
    return text;
}

}  // namespace

Management& answering(const Regions& regions, const std::string& region) {
    Management& management = regions.management(region);
    if (!regions.answers(region))
        throw Error(ErrorCode::unavailable, "region " + quoted(region) + " does not answer");
    return management;
}

std::vector<StreamInstance> tagged(Management& management, const std::string& session) {
    std::vector<StreamInstance> found = management.instances_of(session);
    std::erase_if(found, [](const StreamInstance& instance) { return instance.status == "deleted"; });
    std::ranges::sort(found, {}, &StreamInstance::id);  // ids begin with their time
    return found;
}

void SessionInstanceLauncher::launch(const std::string& id, bool is_fresh) {
    const SessionPtr session = parts_.claims.claim(id);
    if (!session || session->status != created || !session->container_id.empty()) return;
    StreamLaunched launched;
    try {
        Management& management = answering(parts_.regions, session->region);
        const auto found = is_fresh ? std::vector<StreamInstance>() : tagged(management, id);
        if (!found.empty()) return adopt(*session, found);
        launched = management.launch({id, session->app, session->app_version, parts_.user_data.of(*session)});
        failpoint("session.launched");
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw;  // the region may have received it
        if (may_lack_room(e)) parts_.regions.note_refusal(session->region);
        return move_on(*session, e.what());
    }
    log::info("instance launched",
              {{"session", id}, {"region", session->region}, {"instance", launched.instance}});
    take_instance(*session, launched);
    failpoint("session.instance_taken");
    parts_.work.schedule(id);  // events of the instance until now did not find this session
}

// The first instance to be in the record is the session's; any other is deleted.
void SessionInstanceLauncher::take_instance(const StreamSession& session, const StreamLaunched& launched) {
    const std::string& instance = launched.instance;
    parts_.records.change(session.id, [&](StreamSession& record) {
        const bool is_first = record.container_id.empty();
        if (is_first) record.container_id = instance;
        const bool is_its = record.container_id == instance;
        // Who found the instance by its tag, maybe before the launch was answered, did not know its
        // operation.
        const bool has_operation = is_its && record.launch_operation.empty() && !launched.operation.empty();
        if (has_operation) record.launch_operation = launched.operation;
        const bool done = is_its && parts_.claims.is_ours(record) && !record.removal_due;
        if (done) record.worker.clear();
        return is_first || has_operation || done;
    });
    const SessionPtr now = parts_.records.find(session.id);
    if (now && now->container_id == instance) return;
    log::warning("instance of a session that has none or another",
                 {{"session", session.id}, {"instance", instance}});
    answering(parts_.regions, session.region).remove(instance, true, parts_.stopping);
}

void SessionInstanceLauncher::adopt(const StreamSession& session, const std::vector<StreamInstance>& found) {
    if (found.empty()) return;
    const bool has_one = std::ranges::find(found, session.container_id, &StreamInstance::id) != found.end();
    const std::string kept = has_one ? session.container_id : found.front().id;
    if (!has_one) take_instance(session, {kept, ""});
    for (const StreamInstance& instance : found)
        if (instance.id != kept) take_instance(session, {instance.id, ""});
    parts_.work.schedule(session.id);
}

void SessionInstanceLauncher::move_on(const StreamSession& session, const std::string& reason) {
    StreamSession after = session;
    after.refusals.push_back({session.region, fit_reason(reason)});
    const std::string next = next_region(after);
    const std::string why = fit_reason(reason_of(after.refusals));
    const Time now = parts_.clock.now();
    const bool moved = parts_.records.change(session.id, [&](StreamSession& record) {
        if (record.removal_due || record.status != created || record.region != session.region ||
            record.container_id != session.container_id)
            return false;
        record.refusals = after.refusals;
        record.container_id.clear();
        record.launch_operation.clear();
        if (next.empty())
            set_status(record, error, why, now);
        else
            record.region = next;
        return true;
    });
    if (!moved) return;
    if (next.empty()) return parts_.states.note_failure(session.id, why);
    log::info("session goes to another region", {{"session", session.id},
                                                 {"from", session.region},
                                                 {"to", next},
                                                 {"reason", after.refusals.back().reason}});
    parts_.work.schedule(session.id);
}

// Throws unavailable while a region has not been asked yet: it may be the one.
std::string SessionInstanceLauncher::next_region(const StreamSession& session) const {
    if (!session.any_region) return "";
    if (!parts_.regions.all_asked())
        throw Error(ErrorCode::unavailable, "not every region has been asked for its applications yet");
    std::set<std::string> refused;
    for (const RegionRefusal& refusal : session.refusals) refused.insert(refusal.region);
    const auto open_in = [this](const std::string& region) { return parts_.records.index().open_in(region); };
    try {
        return parts_.regions.choose({session.app, session.app_version}, open_in, refused);
    } catch (const Error&) {
        return "";  // no other region answers and has the application
    }
}

}  // namespace svc
