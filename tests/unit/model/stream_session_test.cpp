#include "libsvc/model/streaming/stream_session.h"

#include <catch2/catch.hpp>
#include <set>
#include <utility>
#include <vector>

#include "tests/unit/model/codec_table.h"

namespace svc {
namespace {

using test::check_golden;
using test::code_of;
using test::message_of;
using enum SessionStatus;

constexpr std::string_view statuses[]{"created", "active", "error", "terminating", "terminated"};

StreamSession sample() {
    StreamSession session;
    session.id = "c5pvhr3fbn40000000b0";
    session.account = "web";
    session.app = "candy";
    session.app_version = 3;
    session.region = "here";
    session.container_id = "c5pvhr3fbn40000000a0";
    session.joinable = true;
    session.idle_time_min = 5;
    session.ephemeral = false;
    session.extra_data = Json::parse(R"({"level": [1, 2.5, null]})");
    session.screen = {640, 360, 160, 30};
    session.status = error;
    session.status_message = "hook failed";
    session.created_at = from_rfc3339("2024-01-02T03:04:05.678901234Z");
    session.changed_at = from_rfc3339("2024-01-02T03:04:06.5Z");
    session.client_left_at = from_rfc3339("2024-01-02T03:04:07Z");
    session.client_connected = true;
    session.had_client = true;
    session.video_encoder = "x264enc";
    session.expected = ExpectedClient{"c5pvhr3fbn40000000c0", from_rfc3339("2024-01-02T03:09:05Z"),
                                      Screen{320, 240, 160, 30}};
    session.worker = "00000000-0000-4000-8000-000000000001";
    session.worker_until = from_rfc3339("2024-01-02T03:04:08Z");
    session.launch_operation = "00000000-0000-4000-8000-000000000002";
    session.any_region = true;
    session.refusals = {{"there", "no room"}};
    session.removal_due = true;
    session.forgotten = true;
    return session;
}

SessionCreate create(std::string_view body) {
    return SessionCreate::from_json(Json::parse(body));
}

std::string refusal(std::string_view body) {
    return message_of([&] { create(body); });
}

TEST_CASE("every status of a session has its text") {
    for (const std::string_view text : statuses) {
        const auto status = parse_session_status(text);
        REQUIRE(status);
        CHECK(to_text(*status) == text);
    }
    CHECK_FALSE(parse_session_status("running"));
}

TEST_CASE("a session moves as its table says") {
    const std::set<std::pair<SessionStatus, SessionStatus>> allowed{
        {created, active},     {created, error},         {created, terminating}, {active, error},
        {active, terminating}, {active, terminated},     {error, active},        {error, terminating},
        {terminating, error},  {terminating, terminated}};
    for (const std::string_view from_text : statuses)
        for (const std::string_view to : statuses) {
            INFO(from_text << " to " << to);
            const std::pair move(*parse_session_status(from_text), *parse_session_status(to));
            CHECK(may_move(move.first, move.second) == allowed.contains(move));
        }
}

TEST_CASE("the record of a session") {
    check_golden("unit/model/golden/stream_session.json", to_json(sample()));
    StreamSession fresh;
    fresh.id = "c5pvhr3fbn40000000b0";
    check_golden("unit/model/golden/stream_session_created.json", to_json(fresh));
}

TEST_CASE("a session is stored whole, read back and checked") {
    test::check_record_codec<StreamSession>({"stream_session_stored.json",
                                             sample(),
                                             session_to_store,
                                             session_from_store,
                                             {"id", "app", "region", "status"},
                                             {"extra_data"}});
    const StreamSession read = session_from_store(session_to_store(sample()));
    CHECK(to_json(read) == to_json(sample()));
    CHECK(read.client_left_at == sample().client_left_at);
}

TEST_CASE("a session is asked for with an application alone") {
    const SessionCreate request = create(R"({"app":"candy","colour":"red"})");
    CHECK(request.app == "candy");
    CHECK_FALSE(request.app_version);
    CHECK(request.region.empty());
    CHECK_FALSE(request.joinable);
    CHECK_FALSE(request.idle_time_min);
    CHECK(request.account.empty());
    CHECK(request.ephemeral);
    CHECK(request.extra_data.is_null());
    CHECK(request.screen == Screen{1280, 720, 240, 60});
}

TEST_CASE("the body that a client SDK sends is taken") {
    const SessionCreate request =
        create(R"({"app":"foo","region":"","joinable":false,)"
               R"("screen":{"width":640,"height":360,"fps":60,"density":240},"extra_data":null})");
    CHECK(request.screen == Screen{640, 360, 240, 60});
    CHECK(create(R"({"app":"foo","extra_data":[1,"a",{"b":true}]})").extra_data.as_array().size() == 3);
    CHECK(create(R"({"app":"foo","extra_data":"text"})").extra_data == Json("text"));
}

TEST_CASE("a session may say how long it is idle, and whose it is") {
    CHECK(create(R"({"app":"foo","idle_time_min":0})").idle_time_min == 0);
    CHECK(create(R"({"app":"foo","idle_time_min":7})").idle_time_min == 7);
    CHECK(create(R"({"app":"foo","account":"alice"})").account == "alice");
}

TEST_CASE("odd screen sizes are raised by one") {
    CHECK(create(R"({"app":"foo","screen":{"width":641,"height":359}})").screen == Screen{642, 360, 240, 60});
    CHECK(create(R"({"app":"foo","screen":{"width":1,"height":1}})").screen == Screen{2, 2, 240, 60});
}

TEST_CASE("a screen lies or stands, with as many pixels either way") {
    const auto sized = [](int width, int height) {
        return R"({"app":"a","screen":{"width":)" + std::to_string(width) + R"(,"height":)" +
               std::to_string(height) + R"(,"density":72,"fps":1}})";
    };
    using Sizes = std::vector<std::pair<int, int>>;
    for (const auto& [width, height] : Sizes{{3840, 2160}, {2160, 3840}, {3839, 2159}, {2160, 2160}}) {
        const Screen screen = create(sized(width, height)).screen;
        CHECK(screen.width == width + width % 2);
        CHECK(screen.height == height + height % 2);
    }
    const std::string too_large = "argument screen is invalid: must be at most 3840x2160, lying or standing";
    for (const auto& [width, height] : Sizes{{3840, 2161}, {2161, 3840}, {2161, 2161}})
        CHECK(refusal(sized(width, height)) == too_large);
    CHECK(refusal(sized(3841, 1)) == "argument screen.width is invalid: must be from 1 to 3840");
    CHECK(refusal(sized(1, 3841)) == "argument screen.height is invalid: must be from 1 to 3840");
}

TEST_CASE("a bad request for a session is refused, naming the field") {
    test::check_codec(
        SessionCreate::from_json,
        {
            {"{}", "app is required"},
            {"[]", "JSON value is not an object"},
            {R"({"app":3})", "argument app is invalid: must be a string"},
            {R"({"app":"a b"})", "argument app is invalid*"},
            {R"({"app":"a","app_version":-1})", "argument app_version is invalid*"},
            {R"({"app":"a","region":"x\u0001"})", "argument region is invalid*"},
            {R"({"app":"a","joinable":"yes"})", "argument joinable is invalid: must be true or false"},
            {R"({"app":"a","idle_time_min":-1})", "argument idle_time_min is invalid*"},
            {R"({"app":"a","screen":[]})", "argument screen is invalid: must be an object"},
            {R"({"app":"a","screen":{"width":3841}})",
             "argument screen.width is invalid: must be from 1 to 3840"},
            {R"({"app":"a","screen":{"width":0}})", "argument screen.width*"},
            {R"({"app":"a","screen":{"width":1.5}})", "argument screen.width*"},
            {R"({"app":"a","screen":{"height":3841}})", "argument screen.height*"},
            {R"({"app":"a","screen":{"density":71}})", "argument screen.density*"},
            {R"({"app":"a","screen":{"fps":0}})", "argument screen.fps*"},
            {R"({"app":"a","screen":{"fps":99999999999}})", "argument screen.fps*"},
        });
}

TEST_CASE("a join may say nothing, or a part of the screen") {
    CHECK_FALSE(SessionJoin::from_json(Json()).screen);
    CHECK_FALSE(SessionJoin::from_json(Json::parse(R"({"disconnect_clients":true})")).screen);
    const SessionJoin join = SessionJoin::from_json(Json::parse(R"({"screen":{"width":801,"fps":30}})"));
    REQUIRE(join.screen);
    CHECK(join.screen->applied_to({640, 360, 160, 60}) == Screen{802, 360, 160, 60});
    CHECK(message_of([] { SessionJoin::from_json(Json::parse(R"({"screen":{"height":0}})")); }) ==
          "argument screen.height is invalid: must be from 1 to 3840");
}

TEST_CASE("a join that turns the screen is measured with what it does not say") {
    const ScreenPatch taller = ScreenPatch::from_json(JsonFields(Json::parse(R"({"height":3840})")));
    CHECK(taller.applied_to({2160, 1280, 240, 60}) == Screen{2160, 3840, 240, 60});
    CHECK(code_of([&] { taller.applied_to({2162, 1280, 240, 60}); }) == ErrorCode::invalid_argument);
}

TEST_CASE("the query of a list of sessions") {
    const SessionQuery none = SessionQuery::from_query({});
    CHECK_FALSE(none.status);
    CHECK_FALSE(none.recursion);
    CHECK_FALSE(none.limit);
    CHECK(none.sort_by == "created_at");
    const SessionQuery all = SessionQuery::from_query({{"status", "active"},
                                                       {"recursive", "true"},
                                                       {"limit", "10"},
                                                       {"offset", "2"},
                                                       {"sort_by", "app"},
                                                       {"sort_order", "desc"}});
    CHECK(all.status == active);
    CHECK(all.recursion);
    CHECK(all.limit == 10U);
    CHECK(all.offset == 2);
    CHECK(all.sort_by == "app");
    CHECK(all.descending);
    CHECK_FALSE(SessionQuery::from_query({{"recursion", "false"}, {"recursive", "true"}}).recursion);
}

TEST_CASE("a bad query of a list of sessions is refused, naming the parameter") {
    const std::pair<std::string, std::string> bad[]{
        {"status", "up"},       {"recursion", "2"},   {"recursive", "maybe"},
        {"limit", "-1"},        {"limit", "x"},       {"offset", "1.5"},
        {"sort_by", "account"}, {"sort_order", "up"}, {"offset", "99999999999999999999999999"}};
    for (const auto& [name, text] : bad) {
        INFO(name << "=" << text);
        CHECK(message_of([&, &key = name, &value = text] {
                  SessionQuery::from_query({{key, value}});
              }).find("argument " + name + " is invalid") == 0);
    }
}

}  // namespace
}  // namespace svc
