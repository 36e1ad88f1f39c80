#include "libsvc/base/error.h"
#include "libsvc/base/json_text.h"
#include "libsvc/base/strings.h"
#include "server/http/etag.h"
#include "server/http/file_source.h"
#include "server/http/filters.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

std::string url(PathWord word, std::string_view id) {
    return "/1.0/" + std::string(to_text(word)) + "/" + std::string(id);
}

// The instances that can match the filter: all, or the one that it names.
std::vector<std::shared_ptr<const Instance>> candidates(const Instances& instances,
                                                        const InstanceFilter& filter) {
    if (!filter.only) return instances.list();
    const auto found = instances.find(*filter.only);
    return found ? std::vector{found} : std::vector<std::shared_ptr<const Instance>>();
}

Response list_instances(const Services& services, const Request& request, PathWord word) {
    const auto render = [records = wants_records(request), word](std::string& text,
                                                                 const Instance& instance) {
        if (records)
            append_json(text, instance);
        else
            JsonText(text).value(url(word, instance.id.str()));
    };
    const InstanceFilter filter = instance_filter(request, services.nodes);
    const Instances& instances = services.instances.records();
    return unless_known(request, list_tag(instances), [&] {
        if (!filter.wanted) return sync_list_of(request, instances, render);
        return sync_list(request, filtered(candidates(instances, filter), filter.wanted), render);
    });
}

Response launch(const Services& services, const Request& request, PathWord word) {
    return async(*services.instances.launch(InstanceCreate::from_json(json_body(request)),
                                            query_flag(request, "no_wait"), word, request.requestor));
}

Response show_instance(const Services& services, const Request& request, PathWord) {
    const Instances& instances = services.instances.records();
    const auto found = instances.get_revised(request.params.at("id"));
    return unless_known(request, record_tag(instances, found), [&found] {
        std::string record;
        append_json(record, *found.record);
        return sync(RawJson{std::move(record)});
    });
}

Response delete_instance(const Services& services, const Request& request, PathWord word) {
    return async(
        *services.instances.remove(request.params.at("id"), force_of_body(request), word, request.requestor));
}

Response delete_instances(const Services& services, const Request& request, PathWord word) {
    return async(
        *services.bulk.remove(to_text(word), BulkRequest::from_json(json_body(request)), request.requestor));
}

// Answers when what follows from the report is stored. Holds no thread meanwhile.
Response report(const Services& services, const Request& request) {
    const std::string sender = token_instance(request, services.tokens, known_to(services.instances));
    InstanceReports& reports = services.instances.reports();
    reports.admit(sender);
    Response response;
    response.later = [&reports, id = request.params.at("id"), sender,
                      said = InstanceReport::from_json(json_body(request))](const Responder& respond) {
        const auto answer = [respond](const std::optional<Error>& refused) {
            respond(refused ? failure(*refused) : sync(nullptr));
        };
        try {
            reports.take(id, sender, said, answer);
        } catch (const std::exception& e) {
            respond(failure(e));
        }
    };
    return response;
}

// With a token it is the report of an instance. Without one it is the request of a trusted client.
Response update_instance(const Services& services, const Request& request, PathWord word) {
    if (request.headers.find("Authorization")) return report(services, request);
    const InstancePatch patch = InstancePatch::from_json(json_body(request));
    const std::string& id = request.params.at("id");
    if (patch.delete_protected)
        return async(*services.instances.protect(id, *patch.delete_protected, word, request.requestor));
    if (!patch.lifetime.empty())
        return async(*services.instances.extend(id, patch.lifetime, word, request.requestor));
    return async(*services.instances.set_desired_status(
        id, *patch.desired_status, query_flag(request, "no_wait"), word, request.requestor));
}

// The copy of the peer keeps what has let this request in, whatever the connection asks next.
Response execute(const Services& services, const Request& request, PathWord word) {
    auto distrusted = [&authenticator = services.authenticator, asked = *request.peer] {
        return authenticator.lost_trust(asked);
    };
    return async(*services.exec.start(request.params.at("id"), ExecRequest::from_json(json_body(request)),
                                      word, request.requestor, std::move(distrusted)));
}

Response list_logs(const Services& services, const Request& request, PathWord word) {
    const std::string base = url(word, request.params.at("id")) + "/logs/";
    JsonArray urls;
    const auto instance = services.instances.records().get(request.params.at("id"));
    for (const StoredLog& log : instance->stored_logs) urls.emplace_back(base + percent_encode(log.name));
    return sync(Json(std::move(urls)));
}

Response show_log(const Services& services, const Request& request, PathWord) {
    return stream_file(services.instances.log(request.params.at("id"), request.params.at("name")), "log",
                       "text/plain; charset=utf-8");
}

// What is not known has perhaps just gone.
Response note_uses(const Services& services, const Request& request) {
    for (const std::string& id : UseReport::from_json(json_body(request)).instances)
        services.instances.uses().note(id);
    return sync(nullptr);
}

using InstanceHandler = Response (*)(const Services&, const Request&, PathWord);

void add_routes(std::vector<Route>& routes, const Services& services, PathWord word) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&](InstanceHandler handler) {
        return [services, handler, word](Request& request) { return handler(services, request, word); };
    };
    const std::string many(to_text(word));  // labels of the metrics: "containers", "container_exec"
    const std::string one = many.substr(0, many.size() - 1);
    const std::string base = "/1.0/" + many;
    routes.insert(routes.end(),
                  {{Method::get, base, viewer, on_pool, many, call(list_instances)},
                   {Method::post, base, operator_, on_pool, many, call(launch)},
                   {Method::delete_, base, operator_, on_pool, many, call(delete_instances)},
                   {Method::get, base + "/{id}", viewer, on_io_thread, one, call(show_instance)},
                   {Method::patch, base + "/{id}", token, on_pool, "internal_" + many, call(update_instance)},
                   {Method::delete_, base + "/{id}", operator_, on_pool, one, call(delete_instance)},
                   {Method::post, base + "/{id}/exec", operator_, on_pool, one + "_exec", call(execute)},
                   {Method::get, base + "/{id}/logs", viewer, on_io_thread, one + "_logs", call(list_logs)},
                   {Method::get, base + "/{id}/logs/{name}", viewer, on_pool, one + "_log", call(show_log)}});
}

}  // namespace

std::vector<Route> instance_routes(const Services& services) {
    std::vector<Route> routes;
    add_routes(routes, services, PathWord::containers);
    add_routes(routes, services, PathWord::instances);
    routes.push_back({Method::post, "/1.0/uses", Access::operator_, Dispatch::on_pool, "uses",
                      handler(services, note_uses)});
    return routes;
}

}  // namespace svc::server
