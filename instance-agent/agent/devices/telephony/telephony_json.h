#pragma once
// The JSON forms of calls, messages and settings at the two interfaces (docs/telephony.md).
#include "instance-agent/agent/devices/telephony/call_table.h"
#include "instance-agent/agent/devices/telephony/modem_settings.h"
#include "instance-agent/agent/devices/telephony/sms_store.h"

namespace svc::agent {

Json record_of(const PhoneCall& call);        // of the control API
Json guest_record_of(const PhoneCall& call);  // of the guest interface, where `id` is the request's

// Events of the guest interface.
Json event_of(const PhoneCall& call);
Json event_of(const Sms& sms);
Json event_of(const ModemSettings& settings);

}  // namespace svc::agent
