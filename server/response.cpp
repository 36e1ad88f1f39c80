#include "server/response.h"

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/api.h"

namespace svc::server {

namespace {

Response json_response(int status, std::string body) {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.body = std::move(body);
    response.body += '\n';
    return response;
}

}  // namespace

Response sync(const Json& metadata) {
    return json_response(200, sync_body(metadata));
}

Response sync_rendered(std::string metadata) {
    return sync(Json(RawJson{std::move(metadata)}));
}

Response sync_page(std::string metadata, std::size_t total_size) {
    return json_response(200, sync_page_body(Json(RawJson{std::move(metadata)}), total_size));
}

Response sync_tagged(const Json& metadata, std::string_view etag) {
    Response response = sync(metadata);
    response.headers.set("ETag", "\"" + std::string(etag) + "\"");
    return response;
}

Response async(const Operation& operation) {
    Response response = json_response(202, async_body(operation.id.str(), to_json(operation, true)));
    response.headers.set("Location", "/" + operation_url(operation.id));
    return response;
}

Response metrics_text(std::string metrics) {
    Response response;
    response.headers.set("Content-Type", "text/plain; version=0.0.4");
    response.body = std::move(metrics);
    return response;
}

Response failure(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const int status = known ? http_status(known->code()) : 500;
    const bool ours = !known || known->code() == ErrorCode::internal;
    if (status == 500) (ours ? log::error : log::warning)("request failed", {{"error", error.what()}});
    return json_response(status, error_body(status, known ? known->what() : "internal error"));
}

}  // namespace svc::server
