#include "instance-agent/agent/devices/telephony/telephony_json.h"

namespace svc::agent {
namespace {

Json with_members(Json object, const Json& more) {
    for (const auto& [name, value] : more.as_object()) object.set(name, value);
    return object;
}

}  // namespace

Json record_of(const PhoneCall& call) {
    return with_members(Json::object({{"id", call.id}}), call.members());
}

Json guest_record_of(const PhoneCall& call) {
    return with_members(Json::object({{"call", call.id}}), call.members());
}

Json event_of(const PhoneCall& call) {
    return with_members(Json::object({{"event", "telephony.call"}}), guest_record_of(call));
}

Json event_of(const Sms& sms) {
    return Json::object({{"event", "telephony.sms"},
                         {"sms", sms.id},
                         {"number", sms.number},
                         {"message", sms.message},
                         {"time", sms.time}});
}

Json event_of(const ModemSettings& settings) {
    return with_members(Json::object({{"event", "telephony.state"}}), seen_by_phone(settings));
}

}  // namespace svc::agent
