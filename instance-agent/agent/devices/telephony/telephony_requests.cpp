#include "instance-agent/agent/devices/telephony/telephony_requests.h"

#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/devices/telephony/phone_number.h"
#include "instance-agent/agent/devices/telephony/sms_text.h"
#include "libsvc/base/error.h"

namespace svc::agent {

std::string require_phone_number(const Json& body) {
    if (!body.is_object()) throw Error(ErrorCode::invalid_argument, "Request body must be an object");
    std::string number = require_text(body, "number");
    if (!is_phone_number(number)) throw_invalid_field("number");
    return number;
}

// Programs in C cannot hold a text with U+0000.
Sms require_sms(const Json& body, Direction direction) {
    Sms sms;
    sms.direction = direction;
    sms.number = require_phone_number(body);
    sms.message = require_text(body, "message");
    if (sms.message.empty() || sms.message.find('\0') != std::string::npos) throw_invalid_field("message");
    const auto parts = count_sms_parts(sms.message);
    if (!parts)
        throw Error(ErrorCode::invalid_argument,
                    "Message does not fit into " + std::to_string(most_sms_parts) + " parts");
    sms.parts = *parts;
    return sms;
}

}  // namespace svc::agent
