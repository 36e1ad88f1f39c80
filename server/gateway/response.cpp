#include "server/gateway/response.h"

#include "server/http/refusal.h"

namespace svc::gateway {

namespace {

Response line(int status, const Json& body) {
    Response response = json_response(status, body.dump() + "\n");
    response.headers.set("Cache-Control", "no-store");  // answers have tokens in them
    return response;
}

Json envelope(std::string_view type, std::string_view word, int status) {
    return Json::object({{"type", type}, {"status", word}, {"status_code", status}});
}

}  // namespace

Response success(int status, const Json& metadata) {
    Json body = envelope(status == 202 ? "async" : "sync", "success", status);
    body.set("metadata", metadata);
    return line(status, body);
}

Response success() {
    return line(200, envelope("sync", "success", 200));
}

Response page(const Json& metadata, std::size_t total_size) {
    Json body = envelope("sync", "success", 200);
    body.set("metadata", metadata);
    body.set("total_size", total_size);
    return line(200, body);
}

Response refusal(int status, std::string_view message, const Json& metadata) {
    Json body = envelope("error", "failed", status);
    body.set("error", message);
    if (!metadata.is_null()) body.set("metadata", metadata);
    Response response = line(status, body);
    if (status == 401) response.headers.set("WWW-Authenticate", "macaroon");
    return response;
}

Response failure(const std::exception& error) {
    const server::Refusal failed = server::refusal_of(error);
    return refusal(failed.status, failed.message);
}

}  // namespace svc::gateway
