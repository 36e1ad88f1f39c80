#include "instance-agent/agent/control/envelope.h"

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

Json sync_envelope(const char* status, int code) {
    return Json::object({{"type", "sync"}, {"status", status}, {"status_code", code}});
}

}  // namespace

Response success() {
    return json_response(200, sync_envelope("Success", 200).dump());
}

Response success(Json metadata) {
    Json body = sync_envelope("Success", 200);
    body.set("metadata", std::move(metadata));
    return json_response(200, body.dump());
}

Response created() {
    return json_response(201, sync_envelope("Created", 201).dump());
}

Response failure(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const int code = known != nullptr && known->code() == ErrorCode::invalid_argument ? 400 : 500;
    return json_response(
        code, Json::object({{"type", "error"}, {"error", error.what()}, {"error_code", code}}).dump());
}

Json body_of(const Request& request) {
    return Json::parse(request.body);
}

}  // namespace svc::agent
