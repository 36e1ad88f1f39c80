#include "libsvc/streaming/sessions/instance_remover.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/streaming/sessions/session_instance_launcher.h"

namespace svc {

void InstanceRemover::remove(const std::string& id) {
    const SessionPtr session = parts_.claims.claim(id);
    if (!session || !session->removal_due) return;
    try {
        remove_at(answering(parts_.regions, session->region), *session);
    } catch (const Error& e) {
        // A region that is not configured any more must not keep a forgotten session.
        if (e.code() != ErrorCode::not_found || !session->forgotten) throw;
    }
    parts_.states.finish(id, session->status_message);
}

void InstanceRemover::remove_at(Management& management, const StreamSession& session) {
    if (!session.container_id.empty())
        return management.remove(session.container_id, session.forgotten, parts_.stopping);
    for (const StreamInstance& instance : tagged(management, session.id))
        management.remove(instance.id, session.forgotten, parts_.stopping);
}

void InstanceRemover::remove_left_behind(const std::string& region,
                                         const std::vector<StreamInstance>& found) {
    for (const StreamInstance& instance : found) {
        log::warning("instance of a session that is in another region",
                     {{"session", instance.session}, {"region", region}, {"instance", instance.id}});
        parts_.regions.management(region).remove(instance.id, true, parts_.stopping);
    }
}

}  // namespace svc
