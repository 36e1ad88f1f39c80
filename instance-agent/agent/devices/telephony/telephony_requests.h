#pragma once
// What requests of both interfaces have in common. All functions throw invalid_argument.
#include "instance-agent/agent/devices/telephony/sms_store.h"

namespace svc::agent {

std::string require_phone_number(const Json& body);      // the member `number`
Sms require_sms(const Json& body, Direction direction);  // the members `number` and `message`

}  // namespace svc::agent
