#include "libsvc/streaming/sessions/session_claims.h"

#include <algorithm>
#include <span>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::chrono::seconds claim_time{15};
constexpr std::size_t renewed_together = 256;

}  // namespace

SessionClaims::SessionClaims(SessionRecords& records, Clock& clock, std::string self)
    : records_(records), clock_(clock), self_(std::move(self)) {}

void SessionClaims::take(StreamSession& session) const {
    session.worker = self_;
    session.worker_until = clock_.now() + claim_time;
}

bool SessionClaims::is_others(const StreamSession& session) const {
    return !is_ours(session) && is_valid(session);
}

// A claim that ends much later than one of now would was made before the date was set back: nobody waits for
// it.
bool SessionClaims::is_valid(const StreamSession& session) const {
    const Time now = clock_.now();
    return session.worker_until > now && session.worker_until <= now + 2 * claim_time;
}

bool SessionClaims::is_due(const StreamSession& session) const {
    return is_ours(session) && (!is_valid(session) || session.worker_until - clock_.now() <= claim_time / 2);
}

SessionPtr SessionClaims::claim(const std::string& id) {
    const Time now = clock_.now();
    records_.change(id, [&](StreamSession& session) {
        const bool ours = is_ours(session);
        if (!ours && !session.worker.empty() && is_valid(session))
            throw Error(ErrorCode::busy, "another gateway works for session " + quoted(id));
        if (ours && is_valid(session) && session.worker_until - now > claim_time / 2) return false;
        session.worker = self_;
        session.worker_until = now + claim_time;
        return true;
    });
    return records_.find(id);
}

// In few commits: a region that hangs makes many sessions wait for their turn, and a commit for each would
// take longer than the interval between two renewals.
void SessionClaims::renew(const std::vector<std::string>& ids) {
    const auto extend = [this, until = clock_.now() + claim_time](StreamSession& record) {
        if (!is_ours(record)) return false;
        record.worker_until = until;
        return true;
    };
    for (std::size_t i = 0; i < ids.size(); i += renewed_together)
        records_.change_all(std::span(ids).subspan(i, std::min(renewed_together, ids.size() - i)), extend);
}

}  // namespace svc
