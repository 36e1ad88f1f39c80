// SIM and network: what may be set, and what a phone sees of it.
#include "instance-agent/agent/devices/telephony/modem_settings.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::agent;

namespace {

std::string refusal_of(const std::string& body) {
    try {
        (void)changed_settings({}, Json::parse(body));
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::invalid_argument);
        return e.what();
    }
    return "";
}

ModemSettings with(const std::string& body) {
    return changed_settings({}, Json::parse(body));
}

}  // namespace

TEST_CASE("fields of SIM and network are set together, and the others stay") {
    const auto settings = with(R"({"sim":"ready","number":"","iccid":"894901234567890123","imsi":"262011",)"
                               R"("registration":"roaming","operator":"Überall","operator_code":"262011",)"
                               R"("signal":0,"unknown":1})");
    CHECK(
        to_json(settings) ==
        Json::parse(R"({"sim":"ready","number":"","iccid":"894901234567890123","imsi":"262011",)"
                    R"("registration":"roaming","operator":"Überall","operator_code":"262011","signal":0})"));
    const auto one = changed_settings(settings, Json::parse(R"({"signal":7,"sim":null})"));
    CHECK(one.signal == 7);
    CHECK(one.operator_name == settings.operator_name);
}

TEST_CASE("a field that is wrong is named") {
    for (const auto& [field, values] : std::map<std::string, std::vector<std::string>>{
             {"sim", {R"("READY")", R"("")", "1"}},
             {"number", {R"("x")", R"("+")", R"("+123456789012345678901234567890123")", "1"}},
             {"iccid",
              {R"("")", R"("89490123456789012")", R"("89490123456789012345678")", R"("x94901234567890123")"}},
             {"imsi", {R"("")", R"("26201")", R"("2620112345678901")", R"("26201x")"}},
             {"registration", {R"("at home")", R"("")", "true"}},
             {"operator", {"\"" + std::string(65, 'x') + "\"", R"("a\u0000")", "1"}},
             {"operator_code", {R"("2620")", R"("2620112")", R"("26x01")"}},
             {"signal", {"-1", "101", "1.5", R"("50")"}}})
        for (const std::string& value : values)
            CHECK(refusal_of("{\"" + field + "\":" + value + "}") ==
                  "Invalid value for field '" + field + "'");
    CHECK(refusal_of("{}") == "No telephony settings provided");
    CHECK(refusal_of(R"({"status":"active"})") == "No telephony settings provided");
    CHECK(refusal_of("[]") == "Request body must be an object");
}

TEST_CASE("without a SIM that works, or a network, a phone has no service and sees less") {
    const ModemSettings settings;
    CHECK(settings.has_service());
    CHECK_NOTHROW(require_service(settings));
    const Json all = seen_by_phone(settings);
    CHECK(all.at("service") == Json(true));
    CHECK(all.at("operator") == Json("Test"));
    CHECK(seen_by_phone(with(R"({"sim":"absent"})")) ==
          Json::parse(R"({"sim":"absent","number":"","iccid":"","imsi":"","registration":"unregistered",)"
                      R"("operator":"","operator_code":"","signal":0,"service":false})"));
    const Json blocked = seen_by_phone(with(R"({"sim":"blocked"})"));
    CHECK(blocked.at("iccid") == Json(settings.iccid));
    CHECK(blocked.at("imsi") == Json(""));
    const Json searching = seen_by_phone(with(R"({"registration":"searching"})"));
    CHECK(searching.at("imsi") == Json(settings.imsi));
    CHECK(searching.at("registration") == Json("searching"));
    CHECK(searching.at("signal") == Json(0));
    CHECK_THROWS_WITH(require_service(with(R"({"sim":"blocked"})")), "No service: the SIM is blocked");
    for (const char* registration : {"unregistered", "searching", "denied"})
        CHECK_THROWS_WITH(require_service(with(R"({"registration":")" + std::string(registration) + "\"}")),
                          "No service: the registration is " + std::string(registration));
    CHECK(with(R"({"registration":"roaming"})").has_service());
}

TEST_CASE("stored fields that are not valid any more cost no others") {
    const auto settings = restored_settings(Json::parse(R"({"sim":"nope","operator":"Kept","signal":900})"));
    CHECK(settings.sim == "ready");
    CHECK(settings.signal == 100);
    CHECK(settings.operator_name == "Kept");
    CHECK(to_json(restored_settings(Json::object())) == to_json(ModemSettings()));
}
