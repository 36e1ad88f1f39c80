#pragma once
// The SIM and the network of the instance's phone: fields, their checks, what a phone sees of them
// (docs/telephony.md, SIM and network). Plain values: no threads.
#include <string>

#include "libsvc/base/json.h"

namespace svc::agent {

struct ModemSettings {
    std::string sim = "ready";           // absent, blocked, ready
    std::string number{"+12025550100"};  // "": the SIM does not know it
    std::string iccid{"8900101001234567898"};
    std::string imsi{"001010123456789"};
    std::string registration = "home";  // unregistered, searching, denied, home, roaming
    std::string operator_name = "Test";
    std::string operator_code = "00101";
    int signal = 100;  // percent

    bool sim_works() const { return sim == "ready"; }
    bool in_network() const { return registration == "home" || registration == "roaming"; }
    bool has_service() const { return sim_works() && in_network(); }
};

// `now` with the fields that `body` names. Throws invalid_argument unless each may have its value, and when
// there is none.
ModemSettings changed_settings(ModemSettings now, const Json& body);
// The stored fields that are still valid; the defaults for the others.
ModemSettings restored_settings(const Json& stored);

Json to_json(const ModemSettings& settings);  // as they were set
Json seen_by_phone(const ModemSettings& settings);
// Throws invalid_argument "No service: ..." when there is none.
void require_service(const ModemSettings& settings);

}  // namespace svc::agent
