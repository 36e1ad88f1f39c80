#pragma once
// Changes of a session's status that several rules make. Pure: for SessionRecords::change().
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/model/streaming/stream_session.h"

namespace svc {

// Throws internal for a move that may_move() refuses.
void set_status(StreamSession& session, SessionStatus status, const std::string& reason, Time now);
bool begin_end(StreamSession& session, const std::string& reason, Time now);  // false: it ends already
bool has_moved(const StreamSession& seen, const StreamSession& now);          // or has another instance

// Text that an instance or a region gave as the reason of a failure, safe to be stored and listed: one line
// of at most 1 KiB without control characters; "Container failed" when nothing is left of it.
std::string fit_reason(const std::string& reason);

}  // namespace svc
