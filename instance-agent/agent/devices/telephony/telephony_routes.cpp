#include <charconv>

#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/devices/telephony/telephony_device.h"
#include "instance-agent/agent/devices/telephony/telephony_requests.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

using Done = Response (*)(Telephony&, const Request&);

std::int64_t call_id_of(const Request& request) {
    const std::string& text = request.params.at("id");
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument, "Invalid call id " + quoted(text));
    return id;
}

Response success_with_id(std::int64_t id) {
    return success(Json::object({{"id", id}}));
}

CallState wanted_state_of(const Json& body) {
    if (!body.is_object()) throw Error(ErrorCode::invalid_argument, "Request body must be an object");
    const std::string name = require_text(body, "state");
    for (const CallState state : {CallState::alerting, CallState::active, CallState::held})
        if (to_text(state) == name) return state;
    throw_invalid_field("state");
}

Response configure(Telephony& telephony, const Request& request) {
    telephony.configure(body_of(request));
    return success();
}

Response post_sms(Telephony& telephony, const Request& request) {
    return success_with_id(telephony.add_sms(require_sms(body_of(request), Direction::incoming)));
}

Response delete_sms(Telephony& telephony, const Request&) {
    telephony.clear_sms();
    return success();
}

Response post_call(Telephony& telephony, const Request& request) {
    return success_with_id(telephony.begin_call(Direction::incoming, require_phone_number(body_of(request))));
}

Response patch_call(Telephony& telephony, const Request& request) {
    telephony.change_call(call_id_of(request), wanted_state_of(body_of(request)), Side::remote);
    return success();
}

Response delete_call(Telephony& telephony, const Request& request) {
    telephony.hang_up(call_id_of(request), Side::remote);
    return success();
}

Response get_calls(Telephony& telephony, const Request&) {
    return success(Json::object({{"calls", telephony.calls()}}));
}

}  // namespace

std::vector<Route> TelephonyDevice::routes() {
    const auto route = [this](Method method, const std::string& path, Done done) {
        return Route{method,           "/1.0/telephony" + path,
                     Access::everyone, Dispatch::on_pool,
                     "telephony",      [this, done](Request& request) { return done(telephony_, request); }};
    };
    return {route(Method::get, "", [](Telephony& phone, const Request&) { return success(phone.info()); }),
            route(Method::patch, "", configure),
            route(Method::get, "/sms",
                  [](Telephony& phone, const Request&) { return success(phone.messages()); }),
            route(Method::post, "/sms", post_sms),
            route(Method::delete_, "/sms", delete_sms),
            route(Method::get, "/calls", get_calls),
            route(Method::post, "/calls", post_call),
            route(Method::get, "/calls/{id}",
                  [](Telephony& phone, const Request& request) {
                      return success(phone.call(call_id_of(request)));
                  }),
            route(Method::patch, "/calls/{id}", patch_call),
            route(Method::delete_, "/calls/{id}", delete_call)};
}

}  // namespace svc::agent
