#include "instance-agent/control/envelope.h"

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

Response answer(int status, const Json& body) {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.body = body.dump();
    return response;
}

Json sync_envelope(const char* status, int code) {
    return Json::object({{"type", "sync"}, {"status", status}, {"status_code", code}});
}

}  // namespace

Response success() {
    return answer(200, sync_envelope("Success", 200));
}

Response success(Json metadata) {
    Json body = sync_envelope("Success", 200);
    body.set("metadata", std::move(metadata));
    return answer(200, body);
}

Response created() {
    return answer(201, sync_envelope("Created", 201));
}

Response failure(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const int code = known != nullptr && known->code() == ErrorCode::invalid_argument ? 400 : 500;
    return answer(code, Json::object({{"type", "error"}, {"error", error.what()}, {"error_code", code}}));
}

Json body_of(const Request& request) {
    return Json::parse(request.body);
}

}  // namespace svc::agent
