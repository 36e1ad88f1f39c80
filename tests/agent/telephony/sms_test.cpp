// Numbers, parts of messages, and which messages are kept.
#include <catch2/catch.hpp>

#include "instance-agent/agent/devices/telephony/phone_number.h"
#include "instance-agent/agent/devices/telephony/sms_store.h"
#include "instance-agent/agent/devices/telephony/sms_text.h"
#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::agent;

namespace {

std::string times(std::size_t count, const std::string& text) {
    std::string all;
    while (count-- > 0) all += text;
    return all;
}

int parts(const std::string& text) {
    return count_sms_parts(text).value_or(0);
}

Sms message(Direction direction, const std::string& text = "x") {
    Sms sms;
    sms.direction = direction;
    sms.message = text;
    return sms;
}

}  // namespace

TEST_CASE("a number is of digits, stars and hashes, with a plus in front at most") {
    for (const char* good :
         {"1", "+491701234567", "*100#", "*#06#", "+*#", "01234567890123456789012345678901"})
        CHECK(is_phone_number(good));
    for (const char* bad : {"", "+", "++1", "1+", " 1", "1 2", "a", "1-2", "(1)", "\u0661",
                            "012345678901234567890123456789012"})
        CHECK_FALSE(is_phone_number(bad));
}

TEST_CASE("parts of a message are counted as phones do") {
    const std::string grin = "\U0001f600", euro = "\u20ac";
    CHECK(parts(times(160, "a")) == 1);
    CHECK(parts(times(161, "a")) == 2);
    CHECK(parts(times(306, "a")) == 2);
    CHECK(parts(times(307, "a")) == 3);
    CHECK(parts(times(1530, "\u00e8")) == 10);
    CHECK(parts(times(1531, "a")) == 0);
    CHECK(parts(times(80, euro)) == 1);  // an escape and a letter
    CHECK(parts(times(80, euro) + "a") == 2);
    CHECK(parts(times(153, euro)) == 3);     // 76 in each part: none is torn apart
    CHECK(parts(times(70, "\u0436")) == 1);  // not of the alphabet: UTF-16
    CHECK(parts(times(71, "\u0436")) == 2);
    CHECK(parts(times(69, "a") + "\u0436") == 1);
    CHECK(parts(times(35, grin)) == 1);  // a pair each
    CHECK(parts(times(36, grin)) == 2);
    CHECK(parts(times(330, grin)) == 10);  // 33 in each part
    CHECK(parts(times(331, grin)) == 0);
    CHECK(parts(times(670, "\u0436")) == 10);
    CHECK(parts(times(671, "\u0436")) == 0);
    CHECK(parts(times(1U << 20, "a")) == 0);
    CHECK(parts("@\u00a3$\u00a5\n\r\u0394_\u03a6\u00c6\u00df !\u00a4\u00a1\u00a7\u00bf\u00e0" +
                times(142, "~")) == 2);
    CHECK(parts("`" + times(70, "a")) == 2);  // a letter of ASCII that the alphabet lacks
}

TEST_CASE("a message to the guest waits until it is taken, once") {
    SmsStore store;
    CHECK(store.add(message(Direction::incoming)).sms.state == SmsState::waiting);
    CHECK(store.add(message(Direction::outgoing)).sms.state == SmsState::sent);
    REQUIRE(store.waiting().size() == 1);
    store.deliver(1);
    CHECK(store.waiting().empty());
    CHECK(store.all().front().to_json().at("state") == Json("delivered"));
    CHECK_THROWS_WITH(store.deliver(1), "SMS 1 does not wait");
    CHECK_THROWS_WITH(store.deliver(2), "SMS 2 does not wait");
    CHECK_THROWS_WITH(store.deliver(3), "SMS 3 does not wait");
}

TEST_CASE("a hundred messages of each direction are kept, and those that are dropped are counted") {
    SmsStore store;
    for (int i = 0; i < 100; ++i) {
        CHECK_FALSE(store.add(message(Direction::incoming)).dropped);
        CHECK_FALSE(store.add(message(Direction::outgoing)).dropped);
    }
    CHECK(store.add(message(Direction::outgoing, "the last")).dropped);
    CHECK(store.all().size() == 200);
    CHECK(store.waiting().size() == 100);  // messages of the guest push out none to it
    CHECK(store.all()[1].id == 3);         // 2 was the oldest of the guest
    CHECK(store.dropped() == 1);
    store.clear();
    CHECK(store.all().empty());
    CHECK(store.dropped() == 0);
    CHECK(store.add(message(Direction::incoming)).sms.id == 202);
}
