// What is done at the management service: launches and deletions. One of each session at a time here, by a
// pool; among gateways by a claim in the record. An instance carries its session's tag, so that a launch
// whose answer was lost is found again.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/streaming/session_implementation.h"

namespace svc {

using enum SessionStatus;

namespace {

constexpr std::chrono::seconds first_pause{5};
constexpr std::chrono::seconds longest_pause{60};

Duration pause_after(int failures) {
    return std::min<Duration>(first_pause * (1 << std::min(failures - 1, 10)), longest_pause);
}

// Other refusals are of the request: the next session may go well there.
bool may_lack_room(const Error& refusal) {
    return refusal.code() != ErrorCode::not_found && refusal.code() != ErrorCode::invalid_argument;
}

bool is_older(const StreamInstance& a, const StreamInstance& b) {
    return a.id < b.id;  // ids begin with their time
}

}  // namespace

bool SessionService::Implementation::is_working(const std::string& id) const {
    return duties_.with([&](const auto& duties) {
        const auto found = duties.find(id);
        return found != duties.end() && found->second.running;
    });
}

void SessionService::Implementation::schedule(const std::string& id) {
    const bool idle = duties_.with([&](auto& duties) {
        Duty& duty = duties[id];
        if (duty.running) duty.again = true;
        return !std::exchange(duty.running, true);
    });
    if (idle) post(id);
}

// Unless it failed a moment ago.
void SessionService::Implementation::schedule_due(const std::string& id) {
    const SteadyTime now = clock_.steady_now();
    const bool due = duties_.with([&](const auto& duties) {
        const auto found = duties.find(id);
        return found == duties.end() || (!found->second.running && found->second.due <= now);
    });
    if (due) schedule(id);
}

void SessionService::Implementation::post(const std::string& id) {
    const Ptr session = records_.find(id);
    const bool posted =
        session && (session->removal_due ? removals_ : calls_).post(session->region, [this, id] { run(id); });
    if (!posted) duties_.with([&](auto& duties) { duties.erase(id); });
}

void SessionService::Implementation::run(const std::string& id) {
    if (stopping_) return;
    const bool fresh = duties_.with([&](auto& duties) {
        duties[id].again = false;
        return std::exchange(duties[id].fresh, false);
    });
    const bool failed = !attempt(id, fresh);
    const SteadyTime now = clock_.steady_now();
    const bool again = duties_.with([&](auto& duties) {
        Duty& duty = duties[id];
        if (duty.again) return true;
        duty.running = false;
        if (failed)
            duty.due = now + pause_after(++duty.failures);
        else
            duties.erase(id);
        return false;
    });
    if (again) post(id);
}

bool SessionService::Implementation::attempt(const std::string& id, bool fresh) {
    try {
        work(id, fresh);
        return true;
    } catch (const Error& e) {
        const bool is_usual = e.code() == ErrorCode::unavailable || e.code() == ErrorCode::busy;
        (is_usual ? log::debug : log::warning)("work for a session failed",
                                               {{"session", id}, {"error", e.what()}});
    } catch (const std::exception& e) {
        log::error("work for a session failed", {{"session", id}, {"error", e.what()}});
    }
    return false;
}

void SessionService::Implementation::work(const std::string& id, bool fresh) {
    const Ptr session = records_.find(id);
    if (!session) return;
    if (session->removal_due) return remove_instances(id);
    if (session->status == terminated) return;
    if (!session->container_id.empty()) return check(*session);
    if (session->status == created) return launch(id, fresh);
    const auto found = tagged(answering(session->region), id);
    found.empty() ? instance_missing(*session) : adopt(*session, found);
}

// The right to launch and to delete. Throws busy while another gateway has it.
SessionService::Implementation::Ptr SessionService::Implementation::claim(const std::string& id) {
    const Time now = clock_.now();
    change(id, [&](StreamSession& session) {
        const bool ours = session.worker == self_;
        if (!ours && !session.worker.empty() && session.worker_until > now)
            throw Error(ErrorCode::busy, "another gateway works for session " + quoted(id));
        if (ours && session.worker_until - now > claim_time / 2) return false;
        session.worker = self_;
        session.worker_until = now + claim_time;
        return true;
    });
    return records_.find(id);
}

Management& SessionService::Implementation::answering(const std::string& region) const {
    Management& management = regions_.management(region);
    if (!regions_.answers(region))
        throw Error(ErrorCode::unavailable, "region " + quoted(region) + " does not answer");
    return management;
}

// The oldest first.
std::vector<StreamInstance> SessionService::Implementation::tagged(Management& management,
                                                                   const std::string& id) const {
    std::vector<StreamInstance> found = management.instances_of(id);
    std::erase_if(found, [](const StreamInstance& instance) { return instance.status == "deleted"; });
    std::sort(found.begin(), found.end(), is_older);
    return found;
}

// A second try first looks whether the one before was heard.
void SessionService::Implementation::launch(const std::string& id, bool fresh) {
    const Ptr session = claim(id);
    if (!session || session->status != created || !session->container_id.empty()) return;
    StreamLaunched launched;
    try {
        Management& management = answering(session->region);
        if (const auto found = fresh ? std::vector<StreamInstance>() : tagged(management, id); !found.empty())
            return adopt(*session, found);
        launched = management.launch({id, session->app, session->app_version, user_data(*session)});
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw;  // it may have been heard
        if (may_lack_room(e)) regions_.note_refusal(session->region);
        return launch_refused(*session, e.what());
    }
    log::info("instance launched",
              {{"session", id}, {"region", session->region}, {"instance", launched.instance}});
    take_instance(*session, launched);
    schedule(id);  // what happened to it until now was not told to us
}

// The record decides whose instance it is: the first one to get there.
void SessionService::Implementation::take_instance(const StreamSession& session,
                                                   const StreamLaunched& launched) {
    const std::string& instance = launched.instance;
    change(session.id, [&](StreamSession& record) {
        const bool is_first = record.container_id.empty();
        if (is_first) record.container_id = instance;
        const bool is_ours = record.container_id == instance;
        // Who found it by its tag, maybe before the launch was answered, did not know its operation.
        const bool has_operation = is_ours && record.launch_operation.empty() && !launched.operation.empty();
        if (has_operation) record.launch_operation = launched.operation;
        const bool done = is_ours && record.worker == self_ && !record.removal_due;
        if (done) record.worker.clear();
        return is_first || has_operation || done;
    });
    const Ptr now = records_.find(session.id);
    if (now && now->container_id == instance) return;
    log::warning("instance of a session that has none or another",
                 {{"session", session.id}, {"instance", instance}});
    answering(session.region).remove(instance, true, stop_.get_token());
}

void SessionService::Implementation::adopt(const StreamSession& session,
                                           const std::vector<StreamInstance>& found) {
    if (found.empty()) return;
    const bool has_one = std::any_of(found.begin(), found.end(), [&](const StreamInstance& instance) {
        return instance.id == session.container_id;
    });
    const std::string kept = has_one ? session.container_id : found.front().id;
    if (!has_one) take_instance(session, {kept, ""});
    for (const StreamInstance& instance : found)
        if (instance.id != kept) take_instance(session, {instance.id, ""});
    schedule(session.id);
}

void SessionService::Implementation::remove_instances(const std::string& id) {
    const Ptr session = claim(id);
    if (!session || !session->removal_due) return;
    try {
        remove_at(answering(session->region), *session);
    } catch (const Error& e) {
        // Its region may not be configured any more.
        if (e.code() != ErrorCode::not_found || !session->forgotten) throw;
    }
    finish(id, session->status_message);
}

void SessionService::Implementation::remove_at(Management& management, const StreamSession& session) {
    const std::stop_token stop = stop_.get_token();
    if (!session.container_id.empty())
        return management.remove(session.container_id, session.forgotten, stop);
    for (const StreamInstance& instance : tagged(management, session.id))
        management.remove(instance.id, session.forgotten, stop);
}

}  // namespace svc
