#include <catch2/catch.hpp>

#include "tests/agent/vehicle/vehicle_place.h"

using namespace svc;
using namespace std::chrono_literals;
using test::VehicleGuest;
using test::VehiclePlace;
using GuestPtr = std::shared_ptr<VehicleGuest>;

namespace {

const std::string vehicle_provider_speed = "/1.0/vhal/291504647";
const std::string set_speed = R"({"prop_id":291504647,"float_values":[3.5]})";
const std::string provide =
    R"({"op":"vhal.provide","configs":[{"prop":291504647,"access":1,"change_mode":1},
        {"prop":299896065,"access":1,"change_mode":1}]})";

GuestPtr attach(VehiclePlace& place, std::uint64_t id = 1) {
    auto guest = std::make_shared<VehicleGuest>(id);
    REQUIRE(place.op(guest, provide) == Json::object());
    return guest;
}

std::string reply(const Json& request, const std::string& members) {
    return R"({"op":"vhal.reply","reply_to":)" + std::to_string(request.at("id").as_int()) + "," + members +
           "}";
}

}  // namespace

TEST_CASE("a provider replaces the properties until it disconnects") {
    VehiclePlace place;
    const auto provider = attach(place);
    CHECK(place.ask(Method::get, "/1.0/vhal/config")->body().at("metadata").at("configs").as_array().size() ==
          2);
    CHECK(place.outcome(Method::get, "/1.0/vhal/286261504") == "400 Unknown property 286261504");
    place.feature.closed(provider);
    CHECK(place.outcome(Method::get, "/1.0/vhal/286261504") == "200");
    CHECK(place.outcome(Method::get, vehicle_provider_speed) == "200");
    CHECK(provider->messages() == 0);
}

TEST_CASE("a provider is asked for values and answers them") {
    VehiclePlace place;
    const auto provider = attach(place);
    const auto get = place.ask(Method::get, vehicle_provider_speed);
    CHECK_FALSE(get->is_there());
    const Json request = provider->message(0);
    CHECK(request.dump() ==
          R"({"event":"vhal.request","id":1,"op":"get","area_id":0,"bytes":[],"float_values":[],)"
          R"("int32_values":[],"int64_values":[],"prop":291504647,"status":0,"string_value":""})");
    CHECK(place.op(provider, reply(request, R"("status":0,"value":{"float_values":[2.5],"timestamp":77})")) ==
          Json::object());
    CHECK(get->status() == 200);
    CHECK(get->body().at("metadata").at("value").dump() ==
          R"({"area_id":0,"bytes":[],"float_values":[2.5],"int32_values":[],"int64_values":[],)"
          R"("prop":291504647,"status":0,"string_value":"","timestamp":77})");
    const auto put = place.ask(Method::put, "/1.0/vhal", set_speed);
    CHECK_FALSE(put->is_there());
    CHECK(provider->message(1).at("op") == Json("set"));
    CHECK(provider->message(1).at("float_values") == Json::array({3.5}));
    CHECK(place.op(provider, reply(provider->message(1), R"("status":0)")) == Json::object());
    CHECK(put->status() == 200);
    CHECK(place.op(provider, R"({"op":"vhal.get","prop":291504647})")->at("value").at("float_values") ==
          Json::array({3.5}));
}

TEST_CASE("a freeze frame is asked for with its time") {
    VehiclePlace place;
    const auto provider = attach(place);
    CHECK(place.outcome(Method::get, "/1.0/vhal/299896065") == "400 Missing field 'int64_values'");
    place.ask(Method::get, "/1.0/vhal/299896065", R"({"int64_values":[42]})");
    CHECK(provider->message(0).at("int64_values") == Json::array({42}));
}

TEST_CASE("what a provider refuses is told by the name of its status") {
    VehiclePlace place;
    const auto provider = attach(place);
    const auto told = [&](const std::string& members) {
        const auto get = place.ask(Method::get, vehicle_provider_speed);
        place.op(provider, reply(provider->message(provider->messages() - 1), members));
        return std::to_string(get->status()) + " " + get->error();
    };
    CHECK(told(R"("status":1)") == "500 VHAL request failed: TRY_AGAIN");
    CHECK(told(R"("status":2)") == "400 VHAL request failed: INVALID_ARG");
    CHECK(told(R"("status":3)") == "500 VHAL request failed: NOT_AVAILABLE");
    CHECK(told(R"("status":4)") == "500 VHAL request failed: ACCESS_DENIED");
    CHECK(told(R"("status":5)") == "500 VHAL request failed: INTERNAL_ERROR");
    CHECK(told(R"("status":7)") == "500 VHAL request failed: NOT_AVAILABLE_SPEED_LOW");
    CHECK(told(R"("status":10)") == "500 VHAL request failed: NOT_AVAILABLE_SAFETY");
    CHECK(told(R"("status":99)") == "500 VHAL request failed: INTERNAL_ERROR");
    CHECK(told(R"("status":0)") == "500 VHAL request failed: INTERNAL_ERROR");
    CHECK(told(R"("status":0,"value":[])") == "500 VHAL request failed: INTERNAL_ERROR");
    CHECK(told(R"("status":0,"value":{"int32_values":[1]})") == "500 VHAL request failed: INTERNAL_ERROR");
}

TEST_CASE("a provider that does not answer costs its askers a second, and nobody else anything") {
    VehiclePlace place;
    const auto provider = attach(place);
    const auto get = place.ask(Method::get, vehicle_provider_speed);
    const auto put = place.ask(Method::put, "/1.0/vhal", set_speed);
    CHECK(place.outcome(Method::get, "/1.0/vhal/config") == "200");
    place.clock.await_waiters(1);
    place.clock.advance(999ms);
    CHECK_FALSE(get->is_there());
    place.clock.advance(1ms);
    CHECK(std::to_string(get->status()) + get->error() == "500VHAL request failed: TRY_AGAIN");
    CHECK(put->status() == 500);
    CHECK(place.op(provider, reply(provider->message(0), R"("status":0,"value":{"float_values":[1]})"))
              ->at("error") == Json("unknown request 1"));
    const auto next = place.ask(Method::get, vehicle_provider_speed);
    place.op(provider, reply(provider->message(2), R"("status":0,"value":{"float_values":[1]})"));
    CHECK(next->status() == 200);
}

TEST_CASE("only so many requests wait for a provider") {
    VehiclePlace place;
    const auto provider = attach(place);
    std::vector<std::shared_ptr<test::PendingReply>> waiting;
    for (std::size_t i = 0; i < agent::ProviderRequests::max_pending; ++i)
        waiting.push_back(place.ask(Method::get, vehicle_provider_speed));
    CHECK(place.outcome(Method::get, vehicle_provider_speed) == "500 VHAL request failed: TRY_AGAIN");
    CHECK(provider->messages() == agent::ProviderRequests::max_pending);
    place.feature.closed(provider);
    for (const auto& one : waiting) CHECK(one->error() == "VHAL request failed: NOT_AVAILABLE");
}

TEST_CASE("a provider that goes between request and answer fails what it was asked") {
    VehiclePlace place;
    const auto provider = attach(place);
    const auto get = place.ask(Method::get, vehicle_provider_speed);
    place.feature.closed(provider);
    CHECK(std::to_string(get->status()) + get->error() == "500VHAL request failed: NOT_AVAILABLE");
    CHECK(place.op(provider, reply(provider->message(0), R"("status":0)"))->at("error") ==
          Json("not the provider"));
    CHECK(place.outcome(Method::get, vehicle_provider_speed) == "200");
}

TEST_CASE("a provider that goes before it is asked leaves the answer to the own properties") {
    VehiclePlace place;
    const auto provider = attach(place);
    Request request;
    const auto match = place.router.match(Method::get, vehicle_provider_speed);
    request.params = match.params;
    Response response = match.route->handler(request);
    REQUIRE(response.later);
    place.feature.closed(provider);
    test::PendingReply reply;
    response.later([&reply](Response late) { reply.come(std::move(late)); });
    CHECK(reply.status() == 200);
}

TEST_CASE("there is one provider, and only those who may control become it") {
    VehiclePlace place;
    const auto stranger = std::make_shared<VehicleGuest>(7, false);
    CHECK(place.op(stranger, provide)->at("error") == Json("permission denied"));
    CHECK(place.op(stranger, R"({"op":"vhal.set","prop":291504647,"float_values":[1]})")->at("error") ==
          Json("permission denied"));
    const auto first = attach(place, 1);
    const auto second = std::make_shared<VehicleGuest>(2);
    CHECK(place.op(second, provide)->at("error") == Json("another provider is attached"));
    CHECK(place.op(second, R"({"op":"vhal.reply","reply_to":1,"status":0})")->at("error") ==
          Json("not the provider"));
    CHECK(place.op(first, R"({"op":"vhal.provide","configs":[{"prop":1}]})")->at("error") ==
          Json("Invalid property id '1'"));
    CHECK(place.op(first, R"({"op":"vhal.provide"})")->at("error") == Json("Missing field 'configs'"));
    CHECK(place.op(first, R"({"op":"vhal.provide","configs":[{"prop":291504647},{"prop":291504647}]})")
              ->at("error") == Json("property 291504647 is listed twice"));
    CHECK(place.op(first, provide) == Json::object());
    first->is_open = false;
    CHECK(place.op(second, provide) == Json::object());
    place.feature.closed(first);
    place.ask(Method::get, vehicle_provider_speed);
    CHECK(second->messages() == 1);
}

TEST_CASE("guests reach a provider as the control API does, and are answered later") {
    VehiclePlace place;
    const auto provider = attach(place), guest = std::make_shared<VehicleGuest>(2);
    CHECK_FALSE(place.op(guest, R"({"id":5,"op":"vhal.get","prop":291504647})"));
    CHECK_FALSE(place.op(guest, R"({"id":6,"op":"vhal.set","prop":291504647,"float_values":[8]})"));
    CHECK_FALSE(place.op(guest, R"({"op":"vhal.get","prop":291504647})"));
    place.op(provider, reply(provider->message(1), R"("status":0)"));
    place.op(provider, reply(provider->message(0), R"("status":0,"value":{"float_values":[1.5]})"));
    place.op(provider, reply(provider->message(2), R"("status":3)"));
    CHECK(guest->message(0).dump() == R"({"id":6,"ok":true})");
    CHECK(guest->message(1).at("id") == Json(5));
    CHECK(guest->message(1).at("value").at("float_values") == Json::array({1.5}));
    CHECK(guest->messages() == 2);
    CHECK_FALSE(place.op(guest, R"({"id":7,"op":"vhal.get","prop":291504647})"));
    place.feature.closed(provider);
    CHECK(guest->message(2).dump() == R"({"id":7,"ok":false,"error":"VHAL request failed: NOT_AVAILABLE"})");
}

TEST_CASE("subscribers learn what a provider tells, and what counts after it has gone") {
    VehiclePlace place;
    const auto provider = attach(place), guest = std::make_shared<VehicleGuest>(2);
    CHECK(place.op(guest, R"({"op":"vhal.subscribe","props":[{"prop":291504647}]})") == Json::object());
    CHECK(place.op(provider, R"({"op":"vhal.set","prop":291504647,"float_values":[4.5]})") == Json::object());
    CHECK(guest->message(0).at("value").at("float_values") == Json::array({4.5}));
    const auto put = place.ask(Method::put, "/1.0/vhal", set_speed);
    CHECK(guest->messages() == 1);
    place.op(provider, reply(provider->message(0), R"("status":0)"));
    CHECK(guest->message(1).at("value").at("float_values") == Json::array({3.5}));
    place.feature.closed(provider);
    CHECK(guest->message(2).at("value").at("float_values") == Json::array({0.0}));
}

TEST_CASE("guests see configurations and values like the control API") {
    VehiclePlace place;
    const auto guest = std::make_shared<VehicleGuest>(2, false);
    CHECK(place.feature.name == "vhal");
    CHECK(place.op(guest, R"({"op":"vhal.configs"})")->at("configs").as_array().size() == 75);
    CHECK(place.op(guest, R"({"op":"vhal.configs","props":[286261504]})")->at("configs").as_array().size() ==
          1);
    CHECK(place.op(guest, R"({"op":"vhal.configs","props":[1]})")->at("error") == Json("Unknown property 1"));
    CHECK(place.op(guest, R"({"op":"vhal.configs","props":["a"]})")->at("error") ==
          Json("Invalid value for field 'props'"));
    CHECK(place.op(guest, R"({"op":"vhal.get","prop":286261504})")->at("value") ==
          place.value("/1.0/vhal/286261504"));
    CHECK(place.op(guest, R"({"op":"vhal.get"})")->at("error") == Json("Missing field 'prop'"));
    const auto root = std::make_shared<VehicleGuest>(3);
    CHECK(place.op(root, R"({"op":"vhal.set","prop":286261504,"string_value":"X"})") == Json::object());
    CHECK(place.value("/1.0/vhal/286261504").at("string_value") == Json("X"));
}
