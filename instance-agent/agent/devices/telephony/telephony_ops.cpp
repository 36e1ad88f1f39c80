#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/devices/telephony/telephony_device.h"
#include "instance-agent/agent/devices/telephony/telephony_requests.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

using PhoneOp = GuestAnswer (*)(Telephony&, const Json&);

void check_phone_control(const GuestSession& session) {
    if (!session.may_control()) throw Error(ErrorCode::forbidden, "permission denied");
}

std::int64_t require_integer(const Json& request, std::string_view name) {
    const auto id = read_integer(request, name);
    if (!id) throw_missing_field(name);
    return *id;
}

GuestAnswer dial(Telephony& telephony, const Json& request) {
    const std::int64_t id = telephony.begin_call(Direction::outgoing, require_phone_number(request));
    return {Json::object({{"call", id}})};
}

GuestAnswer answer_call(Telephony& telephony, const Json& request) {
    telephony.change_call(require_integer(request, "call"), CallState::active, Side::guest);
    return {};
}

GuestAnswer hold_call(Telephony& telephony, const Json& request) {
    telephony.change_call(require_integer(request, "call"), CallState::held, Side::guest);
    return {};
}

GuestAnswer hang_up(Telephony& telephony, const Json& request) {
    telephony.hang_up(require_integer(request, "call"), Side::guest);
    return {};
}

GuestAnswer send_sms(Telephony& telephony, const Json& request) {
    const Sms sms = require_sms(request, Direction::outgoing);
    return {Json::object({{"sms", telephony.add_sms(sms)}, {"parts", sms.parts}})};
}

GuestAnswer take_sms(Telephony& telephony, const Json& request) {
    telephony.take_sms(require_integer(request, "sms"));
    return {};
}

GuestOp for_control(Telephony& telephony, PhoneOp op) {
    return [&telephony, op](const GuestSessionPtr& session, const JsonFields& request) {
        check_phone_control(*session);
        return op(telephony, request.value());
    };
}

}  // namespace

GuestFeature TelephonyDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "telephony";
    feature.ops["telephony.get"] = [this](const auto& session, const JsonFields&) {
        return GuestAnswer{telephony_.seen_by(*session)};
    };
    feature.ops["telephony.subscribe"] = [this](const auto& session, const JsonFields&) {
        check_phone_control(*session);
        return GuestAnswer{telephony_.subscribe(session)};
    };
    feature.ops["telephony.unsubscribe"] = [this](const auto& session, const JsonFields&) {
        telephony_.unsubscribe(*session);
        return GuestAnswer{};
    };
    for (const auto& [name, op] : {std::pair<const char*, PhoneOp>{"telephony.dial", dial},
                                   {"telephony.answer", answer_call},
                                   {"telephony.hold", hold_call},
                                   {"telephony.hang_up", hang_up},
                                   {"telephony.send_sms", send_sms},
                                   {"telephony.take_sms", take_sms}})
        feature.ops[name] = for_control(telephony_, op);
    feature.closed = [this](const GuestSessionPtr& session) { telephony_.unsubscribe(*session); };
    return feature;
}

}  // namespace svc::agent
