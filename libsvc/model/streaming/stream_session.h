#pragma once
// Streaming sessions of the gateway (specification: Stream gateway routes; docs/streaming.md). Values; not
// thread-safe.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc {

enum class SessionStatus { created, active, error, terminating, terminated };
std::string_view to_text(SessionStatus status);
std::optional<SessionStatus> parse_session_status(std::string_view text);
bool may_move(SessionStatus from, SessionStatus to);  // docs/streaming.md, "States of a session"

// Pixels, dots per inch, frames per second.
struct Screen {
    int width = 1280, height = 720, density = 240, fps = 60;
    static Screen from_json(
        const JsonFields& fields);  // odd sizes are raised by one; throws invalid_argument
    Json to_json() const;
    bool operator==(const Screen&) const = default;
};

// `screen` of a join: fields that are not set stay as they are. The frame rate cannot be changed.
struct ScreenPatch {
    std::optional<int> width, height, density;
    static ScreenPatch from_json(const JsonFields& fields);  // checks as Screen's; throws invalid_argument
    Screen applied_to(Screen screen) const;
};

// A client that has a token and has not connected yet.
struct ExpectedClient {
    std::string id;  // the client id in the token
    Time until{};    // expiry of the token
    std::optional<Screen> screen;
    bool watches = false;  // such a client is not stored
};

// A region that could not launch a session's instance.
struct RegionRefusal {
    std::string region, reason;
};

struct StreamSession {
    std::string id;       // an object id
    std::string account;  // the key of its owner; "": made on the local socket
    std::string app;
    std::optional<int> app_version;  // nothing: the last published one
    std::string region;
    std::string container_id;  // "": none yet, or gone
    bool joinable = false;
    int idle_time_min = 0;  // minutes without a client; 0: no limit
    bool ephemeral = true;
    Json extra_data;  // any JSON
    Screen screen;
    SessionStatus status = SessionStatus::created;
    std::string status_message;
    Time created_at{};
    Time changed_at{};              // of status
    Time client_left_at{};          // since when no client watches; created_at until the first client came
    bool client_connected = false;  // media flows, as the instance reported last
    bool had_client = false;
    std::string video_encoder;  // of the last stream, as the instance tells; "": none yet

    // State of the gateway's work, not in the API:
    std::optional<ExpectedClient> expected;  // the newest; its token is valid after a restart of the gateway
    std::string worker;            // the service object that launches and deletes its instance; "": none yet
    Time worker_until{};           // another service object may take over after that
    std::string launch_operation;  // at its region; "" without an instance
    bool any_region = false;       // the caller named no region
    std::vector<RegionRefusal> refusals;  // of earlier regions; each is asked once
    bool removal_due = false;             // its instance is to be deleted, also while the session is in error
    bool forgotten = false;               // deleted by force: not shown, kept until its instance is gone
};

Json to_json(const StreamSession& session);  // the record of the API
Json session_to_store(const StreamSession& session);
StreamSession session_from_store(const Json& stored);

// Body of POST /1.0/sessions. Unknown fields are ignored.
struct SessionCreate {
    std::string app;
    std::optional<int> app_version;
    std::string region;
    bool joinable = false;
    std::optional<int> idle_time_min;  // minutes without a client; 0: no limit; nothing: the gateway's
    bool ephemeral = true;
    Json extra_data;
    Screen screen;
    std::string account;  // name of the account it is for; "": the caller's
    static SessionCreate from_json(const Json& body);
};

// Body of POST /1.0/sessions/<id>/join; may be absent (null).
struct SessionJoin {
    bool watches = false;  // `mode` is "watch": beside the present client; else in its place
    std::optional<ScreenPatch> screen;
    static SessionJoin from_json(const Json& body);
};

// Query of GET /1.0/sessions.
struct SessionQuery {
    std::optional<SessionStatus> status;
    bool recursion = false;
    std::optional<std::size_t> limit;
    std::size_t offset = 0;
    std::string sort_by = "created_at";
    bool descending = false;
    static SessionQuery from_query(
        const std::map<std::string, std::string>& query);  // throws invalid_argument
};

}  // namespace svc
