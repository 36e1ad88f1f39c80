#include "libsvc/client/envelope.h"

#include "libsvc/base/error.h"
#include "libsvc/client/not_serving.h"
#include "libsvc/net/http/response.h"

namespace svc::client {

namespace {

constexpr int not_serving = 503;

[[noreturn]] void throw_refusal(int status, std::string_view text) {
    const ErrorCode code = error_code_of_status(status);
    if (status == not_serving) throw NotServing(std::string(text));
    // `unavailable` is kept for services that did not answer at all.
    throw Error(code == ErrorCode::unavailable ? ErrorCode::internal : code, std::string(text));
}

}  // namespace

Json open_envelope(int status, std::string_view body) {
    Json envelope;
    try {
        envelope = Json::parse(body);
    } catch (const Error&) {
        throw_refusal(status,
                      "the service answered HTTP status " + std::to_string(status) + " without a JSON body");
    }
    const Json* type = envelope.find("type");
    if (status >= 400 || (type != nullptr && type->is_string() && type->as_string() == "error")) {
        const Json* text = envelope.find("error");
        throw_refusal(status, text != nullptr && text->is_string() && !text->as_string().empty()
                                  ? text->as_string()
                                  : "Failure");
    }
    const Json* metadata = envelope.find("metadata");
    return metadata == nullptr ? Json() : *metadata;
}

}  // namespace svc::client
