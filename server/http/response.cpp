#include "server/http/response.h"

#include "libsvc/model/values/api.h"
#include "server/http/refusal.h"

namespace svc::server {

namespace {

Response line(int status, std::string body) {
    return json_response(status, std::move(body += '\n'));
}

}  // namespace

Response sync(const Json& metadata) {
    return line(200, sync_body(metadata));
}

Response sync_tagged(const Json& metadata, std::string_view etag) {
    Response response = sync(metadata);
    response.headers.set("ETag", "\"" + std::string(etag) + "\"");
    return response;
}

Response async(const Operation& operation) {
    Response response = line(202, async_body(operation.id.str(), to_json(operation)));
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
    const Refusal refusal = refusal_of(error);
    return line(refusal.status, error_body(refusal.status, refusal.message));
}

}  // namespace svc::server
