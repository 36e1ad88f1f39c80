#include "libsvc/model/streaming/stream_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"

namespace svc {

namespace {

using enum SessionStatus;

constexpr int schema = 1;

constexpr std::array<EnumName<SessionStatus>, 5> session_status_names{{{created, "created"},
                                                                       {active, "active"},
                                                                       {error, "error"},
                                                                       {terminating, "terminating"},
                                                                       {terminated, "terminated"}}};

// `terminating` to `error`: the deletion of the instance timed out.
constexpr std::array<std::pair<SessionStatus, SessionStatus>, 10> moves{{{created, active},
                                                                         {created, error},
                                                                         {created, terminating},
                                                                         {active, error},
                                                                         {active, terminating},
                                                                         {active, terminated},
                                                                         {error, active},
                                                                         {error, terminating},
                                                                         {terminating, terminated},
                                                                         {terminating, error}}};

Json time_to_store(Time time) {
    return time == Time{} ? Json() : Json(to_rfc3339(time));
}

Time time_from_store(const JsonFields& fields, std::string_view key) {
    const auto text = fields.string(key);
    return text ? from_rfc3339(*text) : Time{};
}

SessionStatus status_from_store(const JsonFields& fields) {
    const auto status = parse_session_status(fields.require_string("status"));
    if (!status) throw_invalid(fields.path_of("status"), "is no status of a session");
    return *status;
}

Json expected_to_store(const std::optional<ExpectedClient>& client) {
    if (!client) return {};
    return Json::object({{"id", client->id},
                         {"until", time_to_store(client->until)},
                         {"screen", client->screen ? client->screen->to_json() : Json()}});
}

std::optional<ExpectedClient> expected_from_store(const JsonFields& fields) {
    const auto stored = fields.object("expected");
    if (!stored) return {};
    ExpectedClient client{stored->require_string("id"), time_from_store(*stored, "until"), {}};
    if (const auto screen = stored->object("screen")) client.screen = Screen::from_json(*screen);
    return client;
}

Json refusals_to_store(const std::vector<RegionRefusal>& refusals) {
    Json list = Json::array();
    for (const RegionRefusal& refusal : refusals)
        list.push_back(Json::object({{"region", refusal.region}, {"reason", refusal.reason}}));
    return list;
}

std::vector<RegionRefusal> refusals_from_store(const JsonFields& fields) {
    std::vector<RegionRefusal> refusals;
    for (const JsonFields& one : fields.objects("refusals").value_or(std::vector<JsonFields>()))
        refusals.push_back({one.require_string("region"), one.require_string("reason")});
    return refusals;
}

void read_request(const JsonFields& fields, StreamSession& session) {
    session.account = fields.string("account").value_or("");
    session.app = fields.require_string("app");
    if (const auto version = fields.integer("app_version")) session.app_version = static_cast<int>(*version);
    session.region = fields.require_string("region");
    session.joinable = fields.boolean("joinable").value_or(false);
    session.idle_time_min = static_cast<int>(fields.integer("idle_time_min").value_or(0));
    session.ephemeral = fields.boolean("ephemeral").value_or(true);
    if (const Json* extra = fields.raw("extra_data")) session.extra_data = *extra;
    if (const auto screen = fields.object("screen")) session.screen = Screen::from_json(*screen);
}

void read_state(const JsonFields& fields, StreamSession& session) {
    session.container_id = fields.string("container_id").value_or("");
    session.status = status_from_store(fields);
    session.status_message = fields.string("status_message").value_or("");
    session.created_at = time_from_store(fields, "created_at");
    session.changed_at = time_from_store(fields, "changed_at");
    session.client_left_at = time_from_store(fields, "client_left_at");
    session.client_connected = fields.boolean("client_connected").value_or(false);
    session.had_client = fields.boolean("had_client").value_or(false);
    session.video_encoder = fields.string("video_encoder").value_or("");
    session.expected = expected_from_store(fields);
    session.worker = fields.string("worker").value_or("");
    session.worker_until = time_from_store(fields, "worker_until");
    session.launch_operation = fields.string("launch_operation").value_or("");
    session.any_region = fields.boolean("any_region").value_or(false);
    session.refusals = refusals_from_store(fields);
    session.removal_due = fields.boolean("removal_due").value_or(false);
    session.forgotten = fields.boolean("forgotten").value_or(false);
}

}  // namespace

std::string_view to_text(SessionStatus status) {
    return enum_text<SessionStatus>(session_status_names, status);
}

std::optional<SessionStatus> parse_session_status(std::string_view text) {
    return enum_value<SessionStatus>(session_status_names, text);
}

bool may_move(SessionStatus from, SessionStatus to) {
    return std::find(moves.begin(), moves.end(), std::pair(from, to)) != moves.end();
}

Json to_json(const StreamSession& session) {
    Json record = Json::object({{"id", session.id},
                                {"app", session.app},
                                {"region", session.region},
                                {"cluster_id", session.region},
                                {"container_id", session.container_id},
                                {"joinable", session.joinable},
                                {"status", to_text(session.status)},
                                {"status_message", session.status_message},
                                {"created_at", to_unix_seconds(session.created_at)},
                                {"client_connected", session.client_connected}});
    if (!session.video_encoder.empty()) record.set("video_encoder", session.video_encoder);
    return record;
}

Json session_to_store(const StreamSession& session) {
    return Json::object({{"schema", schema},
                         {"id", session.id},
                         {"account", session.account},
                         {"app", session.app},
                         {"app_version", session.app_version ? Json(*session.app_version) : Json()},
                         {"region", session.region},
                         {"container_id", session.container_id},
                         {"joinable", session.joinable},
                         {"idle_time_min", session.idle_time_min},
                         {"ephemeral", session.ephemeral},
                         {"extra_data", session.extra_data},
                         {"screen", session.screen.to_json()},
                         {"status", to_text(session.status)},
                         {"status_message", session.status_message},
                         {"created_at", time_to_store(session.created_at)},
                         {"changed_at", time_to_store(session.changed_at)},
                         {"client_left_at", time_to_store(session.client_left_at)},
                         {"client_connected", session.client_connected},
                         {"had_client", session.had_client},
                         {"video_encoder", session.video_encoder},
                         {"expected", expected_to_store(session.expected)},
                         {"worker", session.worker},
                         {"worker_until", time_to_store(session.worker_until)},
                         {"launch_operation", session.launch_operation},
                         {"any_region", session.any_region},
                         {"refusals", refusals_to_store(session.refusals)},
                         {"removal_due", session.removal_due},
                         {"forgotten", session.forgotten}});
}

StreamSession session_from_store(const Json& stored) {
    const JsonFields fields(stored);
    StreamSession session;
    session.id = fields.require_string("id");
    read_request(fields, session);
    read_state(fields, session);
    return session;
}

}  // namespace svc
