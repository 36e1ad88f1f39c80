#include "server/gateway/response.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/api.h"

namespace svc::gateway {

namespace {

Response json_response(int status, const Json& body) {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.headers.set("Cache-Control", "no-store");  // answers have tokens in them
    response.body = body.dump() + "\n";
    return response;
}

Json envelope(std::string_view type, std::string_view word, int status) {
    return Json::object({{"type", type}, {"status", word}, {"status_code", status}});
}

}  // namespace

Response success(int status, const Json& metadata) {
    Json body = envelope(status == 202 ? "async" : "sync", "success", status);
    body.set("metadata", metadata);
    return json_response(status, body);
}

Response success() {
    return json_response(200, envelope("sync", "success", 200));
}

Response page(const Json& metadata, std::size_t total_size) {
    Json body = envelope("sync", "success", 200);
    body.set("metadata", metadata);
    body.set("total_size", total_size);
    return json_response(200, body);
}

Response refusal(int status, std::string_view message, const Json& metadata) {
    Json body = envelope("error", "failed", status);
    body.set("error", message);
    if (!metadata.is_null()) body.set("metadata", metadata);
    Response response = json_response(status, body);
    if (status == 401) response.headers.set("WWW-Authenticate", "macaroon");
    return response;
}

Response failure(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const int status = known ? http_status(known->code()) : 500;
    const bool ours = !known || known->code() == ErrorCode::internal;
    if (status == 500) (ours ? log::error : log::warning)("request failed", {{"error", error.what()}});
    return refusal(status, known ? known->what() : "internal error");
}

}  // namespace svc::gateway
