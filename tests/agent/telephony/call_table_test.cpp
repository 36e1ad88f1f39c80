// Every state of a call, what it may become, and at whose wish.
#include "instance-agent/agent/devices/telephony/call_table.h"

#include <catch2/catch.hpp>
#include <set>

#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::agent;

namespace {

std::string refusal_of(const std::function<void()>& change) {
    try {
        change();
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::invalid_argument);
        return e.what();
    }
    return "";
}

// A table whose call 1 has this state.
CallTable table_with(CallState state) {
    CallTable calls;
    const bool outgoing = state == CallState::dialing || state == CallState::alerting;
    calls.begin(outgoing ? Direction::outgoing : Direction::incoming, "1", 0);
    if (state == CallState::alerting) calls.change(1, CallState::alerting, Side::remote);
    if (state == CallState::active || state == CallState::held)
        calls.change(1, CallState::active, Side::remote);
    if (state == CallState::held) calls.change(1, CallState::held, Side::remote);
    if (state == CallState::ended) calls.end(1, EndReason::guest);
    REQUIRE(calls.find(1).state == state);
    return calls;
}

constexpr std::array all_states{CallState::ringing, CallState::dialing, CallState::alerting,
                                CallState::active,  CallState::held,    CallState::ended};

}  // namespace

TEST_CASE("a call becomes what the table says at whose wish it says, and nothing else") {
    using Becomes = std::pair<CallState, CallState>;
    const std::set<Becomes> of_both{{CallState::ringing, CallState::active},
                                    {CallState::active, CallState::held},
                                    {CallState::held, CallState::active}};
    const std::set<Becomes> of_remote{{CallState::dialing, CallState::alerting},
                                      {CallState::dialing, CallState::active},
                                      {CallState::alerting, CallState::active}};
    for (const CallState from : all_states)
        for (const CallState to : {CallState::ringing, CallState::dialing, CallState::alerting,
                                   CallState::active, CallState::held})
            for (const Side side : {Side::guest, Side::remote}) {
                INFO(to_text(from) << " " << to_text(to) << " " << (side == Side::guest));
                CallTable calls = table_with(from);
                const std::string refusal = refusal_of([&] { calls.change(1, to, side); });
                const bool allowed = of_both.count({from, to}) != 0 ||
                                     (side == Side::remote && of_remote.count({from, to}) != 0);
                const std::string text = "Call 1 is " + std::string(to_text(from)) + " and cannot become " +
                                         std::string(to_text(to));
                CHECK(refusal == (allowed ? "" : text));
                CHECK(calls.find(1).state == (allowed ? to : from));
            }
}

TEST_CASE("any call but one that has ended can be ended") {
    for (const CallState state : all_states) {
        CallTable calls = table_with(state);
        const std::string refusal = refusal_of([&] { calls.end(1, EndReason::remote); });
        const bool had_ended = state == CallState::ended;
        CHECK(refusal == (had_ended ? "Call 1 is ended and cannot become ended" : ""));
        CHECK(calls.find(1).members().at("end_reason") == Json(had_ended ? "guest" : "remote"));
        CHECK(calls.present().empty());
    }
}

TEST_CASE("at most one call is active, and the one before it is held first") {
    CallTable calls;
    for (int i = 0; i < 3; ++i) calls.begin(Direction::incoming, "1", 0);
    calls.change(1, CallState::active, Side::guest);
    const auto changed = calls.change(3, CallState::active, Side::guest);
    REQUIRE(changed.size() == 2);
    CHECK(changed[0].id == 1);
    CHECK(changed[0].state == CallState::held);
    CHECK(changed[1].id == 3);
    CHECK(changed[1].state == CallState::active);
    CHECK(calls.find(2).state == CallState::ringing);
}

TEST_CASE("eight calls are the most at once, and the last 32 that have ended are kept") {
    CallTable calls;
    for (int i = 0; i < 8; ++i) calls.begin(Direction::outgoing, "1", 0);
    CHECK(refusal_of([&] { calls.begin(Direction::incoming, "1", 0); }) == "Too many calls at once");
    CHECK(calls.end_all(EndReason::no_guest).size() == 8);
    const auto first = calls.begin(Direction::incoming, "1", 0);
    for (int i = 0; i < 40; ++i) calls.end(calls.begin(Direction::incoming, "1", 0).id, EndReason::guest);
    calls.end(first.id, EndReason::guest);  // the one that ended last is kept, though it began first
    CHECK(calls.ended().size() == 32);
    CHECK(calls.find(first.id).state == CallState::ended);
    CHECK(refusal_of([&] { (void)calls.find(8); }) == "Call 8 does not exist");
    CHECK(refusal_of([&] { calls.end(1000, EndReason::guest); }) == "Call 1000 does not exist");
}
