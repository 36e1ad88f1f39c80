#pragma once
// What callers of the session service pass and get.
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "libsvc/model/streaming/stream_session.h"

namespace svc {

// The key of the account that asks, which sees its own sessions alone (the key, not the name: another account
// may get the name). "": the local socket, which sees all.
using SessionOwner = std::string;

// What a client needs to connect.
struct SessionGrant {
    StreamSession session;
    // "/1.0/sessions/<id>/sockets/slave?token=..."; the caller puts the scheme and host before it.
    std::string path;
    std::string media_path;  // ".../sockets/media?token=...", for media where no other path is
    Json stun_servers;
};

struct SessionPage {
    std::vector<StreamSession> sessions;
    std::size_t total = 0;  // before offset and limit
};

struct SessionDeletion {
    bool force = false;  // forget it even if its region does not answer
    bool sync = false;   // return when it is gone; blocks
};
struct SessionDeletionError {
    std::string id, message;
    ErrorCode code;
};
struct SessionDeletions {
    std::vector<std::string> deleted;
    std::vector<SessionDeletionError> errors;
};
using SessionsDeleted = std::function<void(const SessionDeletions&)>;

}  // namespace svc
