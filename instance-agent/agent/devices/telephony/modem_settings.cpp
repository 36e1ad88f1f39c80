#include "instance-agent/agent/devices/telephony/modem_settings.h"

#include <algorithm>
#include <array>

#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/devices/telephony/phone_number.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr double most_signal = 100;
constexpr std::size_t most_operator_bytes = 64;

bool is_sim(const std::string& text) {
    return text == "absent" || text == "blocked" || text == "ready";
}

bool is_registration(const std::string& text) {
    constexpr std::array<std::string_view, 5> all{"unregistered", "searching", "denied", "home", "roaming"};
    return std::find(all.begin(), all.end(), text) != all.end();
}

bool is_number_of_sim(const std::string& text) {
    return text.empty() || is_phone_number(text);
}

template <std::size_t Least, std::size_t Most>
bool is_identity(const std::string& text) {
    return text.size() >= Least && text.size() <= Most && has_digits_only(text);
}

bool is_operator_name(const std::string& text) {
    return text.size() <= most_operator_bytes && text.find('\0') == std::string::npos;
}

struct TextField {
    std::string_view name;
    std::string ModemSettings::*value;
    bool (*is_valid)(const std::string&);
};

constexpr std::array<TextField, 7> text_fields{
    {{"sim", &ModemSettings::sim, is_sim},
     {"number", &ModemSettings::number, is_number_of_sim},
     {"iccid", &ModemSettings::iccid, is_identity<18, 22>},
     {"imsi", &ModemSettings::imsi, is_identity<6, 15>},
     {"registration", &ModemSettings::registration, is_registration},
     {"operator", &ModemSettings::operator_name, is_operator_name},
     {"operator_code", &ModemSettings::operator_code, is_identity<5, 6>}}};

// False: the body does not name it.
bool read_into(ModemSettings& settings, const TextField& field, const Json& body) {
    const auto text = read_text(body, field.name);
    if (text && !field.is_valid(*text)) throw_invalid_field(field.name);
    if (text) settings.*field.value = *text;
    return text.has_value();
}

bool read_signal_into(ModemSettings& settings, const Json& body) {
    const auto signal = read_integer(body, "signal", {0, most_signal});
    if (signal) settings.signal = static_cast<int>(*signal);
    return signal.has_value();
}

// Each field by itself, so that one that cannot be read costs no other.
template <class Read>
void restore_field(Read&& read) try {
    read();
} catch (const Error&) {
    // it keeps its default
}

}  // namespace

ModemSettings changed_settings(ModemSettings now, const Json& body) {
    if (!body.is_object()) throw Error(ErrorCode::invalid_argument, "Request body must be an object");
    bool any = read_signal_into(now, body);
    for (const TextField& field : text_fields) any = read_into(now, field, body) || any;
    if (!any) throw Error(ErrorCode::invalid_argument, "No telephony settings provided");
    return now;
}

ModemSettings restored_settings(const Json& stored) {
    ModemSettings settings;
    for (const TextField& field : text_fields) restore_field([&] { read_into(settings, field, stored); });
    restore_field([&] { read_signal_into(settings, stored); });
    return settings;
}

Json to_json(const ModemSettings& settings) {
    Json all = Json::object();
    for (const TextField& field : text_fields) all.set(std::string(field.name), settings.*field.value);
    all.set("signal", settings.signal);
    return all;
}

Json seen_by_phone(const ModemSettings& settings) {
    ModemSettings seen = settings;
    if (seen.sim == "absent") seen.iccid.clear();
    if (!seen.sim_works()) {
        seen.number.clear();
        seen.imsi.clear();
        seen.registration = "unregistered";
    }
    if (!seen.has_service()) {
        seen.operator_name.clear();
        seen.operator_code.clear();
        seen.signal = 0;
    }
    Json all = to_json(seen);
    all.set("service", seen.has_service());
    return all;
}

void require_service(const ModemSettings& settings) {
    if (settings.has_service()) return;
    throw Error(ErrorCode::invalid_argument, settings.sim_works()
                                                 ? "No service: the registration is " + settings.registration
                                                 : "No service: the SIM is " + settings.sim);
}

}  // namespace svc::agent
