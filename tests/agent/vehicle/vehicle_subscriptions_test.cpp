#include <catch2/catch.hpp>

#include "tests/agent/vehicle/vehicle_place.h"

using namespace svc;
using namespace std::chrono_literals;
using agent::PropertyConfig;
using agent::sample_interval;
using agent::Subscriptions;
using test::VehicleGuest;
using test::VehiclePlace;

namespace {

PropertyConfig sampled(float low, float high) {
    PropertyConfig config{};
    config.min_rate = low;
    config.max_rate = high;
    return config;
}

constexpr SteadyTime start{1h};

}  // namespace

TEST_CASE("the asked sample rate is kept within the property's range") {
    CHECK(sample_interval(sampled(1, 10), 5) == 200ms);
    CHECK(sample_interval(sampled(1, 10), 100) == 100ms);
    CHECK(sample_interval(sampled(1, 10), 0.5) == 1s);
    CHECK(sample_interval(sampled(1, 10), 0) == 1s);
    CHECK(sample_interval(sampled(0, 10), 0) == 100ms);
    CHECK(sample_interval(sampled(0, 0), 7) == 1s);
    CHECK(sample_interval(sampled(1, 1e30F), 1e30) == 1ms);
    CHECK(sample_interval(sampled(1e-30F, 1), 1e-30) == 1000s);
}

TEST_CASE("samples are due at their rate, and lost time is not made up for") {
    Subscriptions all;
    const auto fast = std::make_shared<VehicleGuest>(1), slow = std::make_shared<VehicleGuest>(2);
    all.add(fast, {7, 0}, 100ms, start);
    all.add(slow, {7, 0}, 1s, start);
    const auto due = [&](Duration since) { return all.take_due(start + since).size(); };
    CHECK(due(0s) == 2);
    CHECK(due(99ms) == 0);
    CHECK(all.next_due() == start + 100ms);
    CHECK(due(100ms) == 1);
    CHECK(due(250ms) == 1);
    CHECK(all.next_due() == start + 300ms);
    CHECK(due(5s) == 2);
    CHECK(due(5s) == 0);
    CHECK(all.next_due() == start + 5100ms);
    all.add(fast, {7, 0}, 1s, start + 5s);
    CHECK(due(5s) == 1);
    CHECK(due(5500ms) == 0);
    all.remove(1);
    all.remove(2, 7);
    CHECK_FALSE(all.next_due());
    CHECK(all.count(1) == 0);
}

TEST_CASE("a continuous property is sent at once and then at the asked rate") {
    VehiclePlace place;
    const auto guest = std::make_shared<VehicleGuest>(1);
    CHECK(place.op(guest, R"({"op":"vhal.subscribe","props":[{"prop":291504647,"sample_rate":4}]})") ==
          Json::object());
    CHECK(guest->message(0).at("event") == Json("vhal.changed"));
    CHECK(guest->message(0).at("value").at("prop") == Json(291504647));
    for (std::size_t i = 1; i <= 3; ++i) {
        place.clock.await_waiters(1);
        place.clock.advance(249ms);
        CHECK(guest->messages() == i);
        place.clock.advance(1ms);
        guest->message(i);
    }
    CHECK(place.outcome(Method::put, "/1.0/vhal", R"({"prop_id":291504647,"float_values":[9.5]})") == "200");
    CHECK(guest->messages() == 4);
    place.clock.await_waiters(1);
    place.clock.advance(250ms);
    CHECK(guest->message(4).at("value").at("float_values") == Json::array({9.5}));
    place.feature.closed(guest);
    place.clock.advance(10s);
    CHECK(guest->messages() == 5);
}

TEST_CASE("other properties are sent when they change, to whom they concern") {
    VehiclePlace place;
    const auto left = std::make_shared<VehicleGuest>(1), both = std::make_shared<VehicleGuest>(2, false);
    CHECK(place.op(left, R"({"op":"vhal.subscribe","props":[{"prop":358614275,"area_ids":[49]}]})") ==
          Json::object());
    CHECK(place.op(both, R"({"op":"vhal.subscribe","props":[{"prop":358614275}]})") == Json::object());
    const auto set = [&](int area, const char* degrees) {
        return place.outcome(Method::put, "/1.0/vhal",
                             R"({"prop_id":358614275,"area_id":)" + std::to_string(area) +
                                 R"(,"float_values":[)" + degrees + "]}");
    };
    CHECK(set(68, "22.5") == "200");
    CHECK(set(68, "22.5") == "200");
    CHECK(set(49, "99") == "400 Value out of range");
    CHECK(both->messages() == 1);
    CHECK(both->message(0).at("value").at("area_id") == Json(68));
    CHECK(left->messages() == 0);
    CHECK(set(49, "16.5") == "200");
    CHECK(left->messages() == 1);
    CHECK(place.op(both, R"({"op":"vhal.unsubscribe","props":[358614275]})") == Json::object());
    CHECK(set(49, "17") == "200");
    CHECK(both->messages() == 2);
    CHECK(left->messages() == 2);
}

TEST_CASE("a subscription is taken whole or not at all") {
    VehiclePlace place;
    const auto guest = std::make_shared<VehicleGuest>(1);
    const auto fault = [&](const std::string& props) {
        return place.op(guest, R"({"op":"vhal.subscribe","props":)" + props + "}")->at("error").as_string();
    };
    CHECK(fault(R"([{"prop":287310858},{"prop":1}])") == "Unknown property 1");
    CHECK(fault(R"([{"prop":287310858},{"prop":358614275,"area_ids":[1]}])") ==
          "Unknown area 1 for property 358614275");
    CHECK(fault("[]") == "Missing field 'props'");
    CHECK(fault("{}") == "Invalid value for field 'props'");
    CHECK(fault("[1]") == "Invalid value for field 'props'");
    CHECK(fault(R"([{"prop":287310858,"area_ids":["x"]}])") == "Invalid value for field 'area_ids'");
    CHECK(fault(R"([{"prop":287310858,"sample_rate":-1}])") == "Invalid value for field 'sample_rate'");
    CHECK(place.outcome(Method::put, "/1.0/vhal", R"({"prop_id":287310858,"int32_values":[1]})") == "200");
    CHECK(guest->messages() == 0);
}
