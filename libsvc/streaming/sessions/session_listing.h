#pragma once
// Part of a list of sessions, as a query asks for it. Pure.
#include <memory>
#include <vector>

#include "libsvc/streaming/sessions/session_requests.h"

namespace svc {

using SessionPtr = std::shared_ptr<const StreamSession>;

// Sorts and cuts; sessions that are equal in the sorted field are in the order of their ids. Does not look at
// the query's status.
SessionPage page_of(std::vector<SessionPtr> sessions, const SessionQuery& query);

}  // namespace svc
