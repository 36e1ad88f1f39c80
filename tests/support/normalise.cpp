#include "tests/support/normalise.h"

#include <regex>

namespace svc::test {

namespace {

Json normalise_member(const std::string& key, const Json& value) {
    const bool varies = key == "created_at" || key == "size";
    if (key == "progress") return "<progress>";
    if (key == "size" && value.is_string() && value.as_string().ends_with('B')) return "<number>B";
    return varies && value.is_integer() ? Json("<number>") : normalise(value);
}

}  // namespace

std::string normalise_text(std::string text) {
    static const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}");
    static const std::regex digest("\\b[0-9a-f]{64}\\b");
    static const std::regex id("\\b[0-9a-v]{20}\\b");
    static const std::regex size(R"((size"?: "?)[0-9]+B\b)");  // of packages that hold times
    static const std::regex time("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z");
    text = std::regex_replace(text, uuid, "<uuid>");
    text = std::regex_replace(text, digest, "<digest>");
    text = std::regex_replace(text, id, "<id>");
    text = std::regex_replace(text, size, "$1<number>B");
    return std::regex_replace(text, time, "<time>");
}

Json normalise(const Json& value) {
    if (value.is_string()) return normalise_text(value.as_string());
    if (value.is_array()) {
        JsonArray items;
        for (const Json& item : value.as_array()) items.push_back(normalise(item));
        return Json(std::move(items));
    }
    if (!value.is_object()) return value;
    Json result = Json::object();
    for (const auto& [key, member] : value.as_object())
        result.set(normalise_text(key), normalise_member(key, member));
    return result;
}

}  // namespace svc::test
