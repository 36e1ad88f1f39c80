#include "instance-agent/agent/ctl/ctl_command.h"
#include "instance-agent/agent/devices/telephony/modem_settings.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr const char* telephony = "/1.0/telephony";
constexpr const char* telephony_sms = "/1.0/telephony/sms";
constexpr const char* telephony_calls = "/1.0/telephony/calls";

std::string path_of_call(const CtlCall& call) {
    return std::string(telephony_calls) + "/" + std::to_string(parse_ctl_integer(call.plain(0)));
}

// As a field's value has to be: the strength of the signal is a number, all others are texts.
Json field_value(const std::string& field, const std::string& text) {
    const Json known = to_json(ModemSettings());
    if (known.find(field) == nullptr) throw CtlUsageError("unknown field " + quoted(field));
    return known.at(field).is_integer() ? Json(parse_ctl_integer(text)) : Json(text);
}

void set_fields(const CtlCall& call) {
    const auto& words = call.words.plain();
    if (words.size() % 2 != 0) throw CtlUsageError(words.back() + ": a value is missing");
    Json body = Json::object();
    for (std::size_t at = 0; at < words.size(); at += 2)
        body.set(words[at], field_value(words[at], words[at + 1]));
    (void)call.agent.ask(Method::patch, telephony, body.dump());
}

void send_sms(const CtlCall& call) {
    const Json body = Json::object({{"number", call.plain(0)}, {"message", call.plain(1)}});
    call.print(call.agent.ask(Method::post, telephony_sms, body.dump()));
}

void begin_call(const CtlCall& call) {
    call.print(
        call.agent.ask(Method::post, telephony_calls, Json::object({{"number", call.plain(0)}}).dump()));
}

void change_call(const CtlCall& call) {
    (void)call.agent.ask(Method::patch, path_of_call(call), Json::object({{"state", call.plain(1)}}).dump());
}

std::function<void(const CtlCall&)> showing(const char* path, std::string_view member) {
    return [path, member](const CtlCall& call) { call.print(call.agent.ask(Method::get, path).at(member)); };
}

}  // namespace

std::vector<CtlCommand> telephony_ctl() {
    const std::string_view noun = "telephony";
    return {{noun,
             "show",
             "",
             0,
             0,
             {},
             [](const CtlCall& call) { call.print(call.agent.ask(Method::get, telephony)); }},
            {noun, "set", "FIELD VALUE [FIELD VALUE...]", 2, any_number, {}, set_fields},
            {noun, "sms", "NUMBER TEXT", 2, 2, {}, send_sms},
            {noun, "messages", "", 0, 0, {}, showing(telephony_sms, "messages")},
            {noun,
             "clear",
             "(removes all messages)",
             0,
             0,
             {},
             [](const CtlCall& call) { (void)call.agent.ask(Method::delete_, telephony_sms); }},
            {noun, "call", "NUMBER", 1, 1, {}, begin_call},
            {noun, "calls", "", 0, 0, {}, showing(telephony_calls, "calls")},
            {noun, "change", "CALL alerting|active|held", 2, 2, {}, change_call},
            {noun, "hang-up", "CALL", 1, 1, {}, [](const CtlCall& call) {
                 (void)call.agent.ask(Method::delete_, path_of_call(call));
             }}};
}

}  // namespace svc::agent
