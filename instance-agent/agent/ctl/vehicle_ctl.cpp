#include "instance-agent/agent/ctl/ctl_command.h"
#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/property_names.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

using Texts = std::vector<std::string>;

// A property: a number in any base, or a name like PERF_VEHICLE_SPEED.
PropertyId property_of(const std::string& text) {
    if (const auto number = parse_property_number(text)) return *number;
    const KnownProperty* known = find_property(std::string_view(text));
    if (known == nullptr) throw CtlUsageError("unknown property " + quoted(text));
    return known->id;
}

AreaId area_of(const std::string& text) {
    if (const auto number = parse_property_number(text)) return *number;
    const auto constant = find_constant(text.find(':') == std::string::npos ? "Constants::" + text : text);
    if (!constant) throw CtlUsageError("unknown area " + quoted(text));
    return *constant;
}

Json integer(const std::string& text) {
    if (text == "true" || text == "false") return text == "true" ? 1 : 0;
    return parse_ctl_integer(text);
}

Json array_of(const Texts& texts, Json (*read)(const std::string&)) {
    Json values = Json::array();
    for (const std::string& text : texts) values.push_back(read(text));
    return values;
}

// Puts the values into the field for the property's type.
void set_values(Json& body, PropertyId prop, const Texts& texts) {
    const auto type = type_of(prop);
    if (!type) throw CtlUsageError("property " + std::to_string(prop) + " has no type that is known");
    switch (*type) {
        case PropertyType::string:
            if (texts.size() != 1) throw CtlUsageError("a text is one value");
            return body.set("string_value", texts[0]);
        case PropertyType::boolean:
        case PropertyType::int32:
        case PropertyType::int32_vector:
            return body.set("int32_values", array_of(texts, integer));
        case PropertyType::int64:
        case PropertyType::int64_vector:
            return body.set("int64_values", array_of(texts, integer));
        case PropertyType::real:
        case PropertyType::real_vector:
            return body.set("float_values", array_of(texts, [](const std::string& text) {
                                return Json(parse_ctl_number(text));
                            }));
        case PropertyType::bytes:
            return body.set("bytes", array_of(texts, integer));
        case PropertyType::mixed:
            throw CtlUsageError("a mixed property is set by request PUT /1.0/vhal");
    }
}

void get(const CtlCall& call) {
    std::string path = "/1.0/vhal/" + std::to_string(property_of(call.plain(0)));
    if (call.words.plain().size() > 1) path += "/" + std::to_string(area_of(call.plain(1)));
    call.print(call.agent.ask(Method::get, path).at("value"));
}

void set_property(const CtlCall& call) {
    const PropertyId prop = property_of(call.plain(0));
    Json body =
        Json::object({{"prop_id", prop}, {"area_id", area_of(call.words.flag("area").value_or("0"))}});
    set_values(body, prop, Texts(call.words.plain().begin() + 1, call.words.plain().end()));
    (void)call.agent.ask(Method::put, "/1.0/vhal", body.dump());
}

void configs(const CtlCall& call) {
    Texts ids;
    for (const std::string& text : call.words.plain()) ids.push_back(std::to_string(property_of(text)));
    const std::string path = "/1.0/vhal/config" + (ids.empty() ? "" : "/" + join(ids, ","));
    call.print(call.agent.ask(Method::get, path).at("configs"));
}

}  // namespace

std::vector<CtlCommand> vehicle_ctl() {
    return {{"vhal", "get", "PROPERTY [AREA]", 1, 2, {}, get},
            {"vhal", "set", "PROPERTY VALUE... [--area AREA]", 2, any_number, {"area"}, set_property},
            {"vhal", "configs", "[PROPERTY...]", 0, any_number, {}, configs}};
}

}  // namespace svc::agent
