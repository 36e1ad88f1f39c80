// Sessions: create, list, show, join, delete one or many.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/model/values/api.h"
#include "server/gateway/client_url.h"
#include "server/gateway/response.h"
#include "server/gateway/routes/routes.h"
#include "server/http/query.h"

namespace svc::gateway {

namespace {

constexpr std::uint64_t max_session_body = 64U << 10;
constexpr std::uint64_t max_ids_body = 1U << 20;
constexpr std::size_t max_ids = 10'000;

const std::string& session_id(const Request& request) {
    const std::string& id = request.params.at("id");
    if (!is_object_id(id)) throw Error(ErrorCode::invalid_argument, "session id is invalid");
    return id;
}

std::string url_of(const RouteContext& context, const Request& request, const std::string& path) {
    return websocket_url(client_base(request, context.public_url, context.instance_url), path);
}

// Refuses an unusable Host header before it makes a session.
void check_base(const RouteContext& context, const Request& request) {
    client_base(request, context.public_url, context.instance_url);
}

// A client that sees the sessions of all accounts also sees the account of each.
Json record_of(const SessionOwner& viewer, const StreamSession& session) {
    Json record = to_json(session);
    if (viewer.empty()) record.set("account", account_name(session.account));
    return record;
}

Response create_session(const RouteContext& context, const Request& request) {
    check_base(context, request);
    const auto wanted = SessionCreate::from_json(server::json_body(request));
    const SessionOwner owner = context.authenticator.owner_of_new(request, wanted.account);
    const SessionGrant grant = context.sessions->create(owner, wanted);
    return success(201, Json::object({{"id", grant.session.id},
                                      {"region", grant.session.region},
                                      {"status", to_text(grant.session.status)},
                                      {"joinable", grant.session.joinable},
                                      {"url", url_of(context, request, grant.path)},
                                      {"media_url", url_of(context, request, grant.media_path)},
                                      {"stun_servers", grant.stun_servers}}));
}

Response join_session(const RouteContext& context, const Request& request) {
    check_base(context, request);
    const SessionOwner owner = context.authenticator.viewer(request);
    const Json body = request.body.empty() ? Json() : Json::parse(request.body);
    const SessionGrant grant =
        context.sessions->join(owner, session_id(request), SessionJoin::from_json(body));
    return success(200, Json::object({{"id", grant.session.id},
                                      {"url", url_of(context, request, grant.path)},
                                      {"media_url", url_of(context, request, grant.media_path)},
                                      {"stun_servers", grant.stun_servers}}));
}

Response list_sessions(const RouteContext& context, const Request& request) {
    const SessionQuery query = SessionQuery::from_query(request.query);
    const SessionOwner viewer = context.authenticator.viewer(request);
    const SessionService::Page found = context.sessions->list(viewer, query);
    Json list = Json::array();
    for (const StreamSession& session : found.sessions)
        list.push_back(query.recursion ? record_of(viewer, session) : Json(session.id));
    return page(list, found.total);
}

Response show_session(const RouteContext& context, const Request& request) {
    const SessionOwner viewer = context.authenticator.viewer(request);
    return success(200, record_of(viewer, context.sessions->get(viewer, session_id(request))));
}

bool flag(const Request& request, std::string_view name) {
    const std::string value = request.query_value(name);
    return value == "1" || (value != "0" && server::query_flag(request, name));
}

SessionService::Deletion deletion_of(const Request& request) {
    return {flag(request, "force"), flag(request, "sync")};
}

// No thread waits until instances are deleted.
Response when_deleted(const RouteContext& context, const SessionOwner& owner, std::vector<std::string> ids,
                      bool force, std::function<Response(const SessionDeletions&)> answer) {
    Response response;
    response.later = [&context, owner, ids = std::move(ids), force,
                      answer = std::move(answer)](const Responder& respond) {
        try {
            context.sessions->remove_later(
                owner, ids, force,
                [answer, respond](const SessionDeletions& deletions) { respond(answer(deletions)); });
        } catch (const std::exception& e) {
            respond(failure(e));
        }
    };
    return response;
}

Response answer_of_one(const SessionDeletions& deletions) {
    if (deletions.errors.empty()) return success();
    return failure(Error(deletions.errors.front().code, deletions.errors.front().message));
}

Response delete_session(const RouteContext& context, const Request& request) {
    const SessionOwner owner = context.authenticator.viewer(request);
    const SessionService::Deletion how = deletion_of(request);
    const std::string& id = session_id(request);
    if (owner.empty() && context.sessions->remove_unreadable(id)) return success();
    if (how.sync) return when_deleted(context, owner, {id}, how.force, answer_of_one);
    context.sessions->remove(owner, id, how);
    return success();
}

std::vector<std::string> ids_of(const Request& request) {
    const Json body = server::json_body(request);
    const auto ids = JsonFields(body).strings("ids");
    if (!ids || ids->empty()) throw Error(ErrorCode::invalid_argument, "ids is required");
    if (ids->size() > max_ids) throw_invalid("ids", "must not be more than " + std::to_string(max_ids));
    for (const std::string& id : *ids)
        if (!is_object_id(id)) throw Error(ErrorCode::invalid_argument, "session id is invalid");
    return *ids;
}

Json to_json(const SessionDeletions& deletions) {
    Json deleted = Json::array();
    for (const std::string& id : deletions.deleted) deleted.push_back(id);
    Json errors = Json::array();
    for (const SessionDeletionError& error : deletions.errors)
        errors.push_back(Json::object({{"session_id", error.id},
                                       {"error_message", error.message},
                                       {"status_code", http_status(error.code)}}));
    return Json::object({{"deleted_sessions", deleted}, {"errors", errors}});
}

// The status of the failure when all failed alike, 207 when only some did.
Response answer_of(const SessionDeletions& deletions, bool waited) {
    const auto& errors = deletions.errors;
    if (errors.empty()) return success(waited ? 200 : 202, to_json(deletions));
    const bool alike = std::all_of(errors.begin(), errors.end(),
                                   [&](const auto& error) { return error.code == errors.front().code; });
    if (deletions.deleted.empty() && alike)
        return refusal(http_status(errors.front().code), errors.front().message, to_json(deletions));
    return success(207, to_json(deletions));
}

Response delete_sessions(const RouteContext& context, const Request& request) {
    const SessionOwner owner = context.authenticator.viewer(request);
    const SessionService::Deletion how = deletion_of(request);
    std::vector<std::string> ids = ids_of(request);
    if (!how.sync) return answer_of(context.sessions->remove_all(owner, ids, how), false);
    return when_deleted(context, owner, std::move(ids), how.force,
                        [](const SessionDeletions& deletions) { return answer_of(deletions, true); });
}

}  // namespace

std::vector<Route> session_routes(const RouteContext& context) {
    const auto with = [&context](Response (*handle)(const RouteContext&, const Request&)) {
        return [&context, handle](Request& request) { return handle(context, request); };
    };
    return {
        {Method::post, "/1.0/sessions", Access::token, Dispatch::on_pool, "create_new_session",
         with(create_session), max_session_body},
        {Method::get, "/1.0/sessions", Access::token, Dispatch::on_pool, "get_sessions", with(list_sessions)},
        {Method::get, "/1.0/sessions/{id}", Access::token, Dispatch::on_pool, "get_session",
         with(show_session)},
        {Method::delete_, "/1.0/sessions/{id}", Access::token, Dispatch::on_pool, "delete_session",
         with(delete_session)},
        {Method::delete_, "/1.0/sessions", Access::token, Dispatch::on_pool, "delete_sessions",
         with(delete_sessions), max_ids_body},
        {Method::post, "/1.0/sessions/{id}/join", Access::token, Dispatch::on_pool, "join_session",
         with(join_session), max_session_body}};
}

}  // namespace svc::gateway
