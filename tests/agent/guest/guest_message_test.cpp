#include <catch2/catch.hpp>

#include "instance-agent/agent/guest/message.h"
#include "instance-agent/agent/guest/outbox.h"
#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::agent;

namespace {

std::string header(std::uint32_t length, int kind, int flags, int stream) {
    std::string text = pack(MessageKind::json, 0, "");
    for (int i = 0; i < 4; ++i) text[static_cast<std::size_t>(i)] = static_cast<char>(length >> (8 * i));
    text[4] = static_cast<char>(kind);
    text[5] = static_cast<char>(flags);
    text[6] = static_cast<char>(stream);
    return text;
}

std::vector<std::string> names(Outbox& outbox) {
    std::vector<std::string> all;
    while (!outbox.empty()) {
        all.emplace_back(outbox.front());
        outbox.sent(outbox.front().size());
    }
    return all;
}

}  // namespace

TEST_CASE("messages come out whole wherever the stream is torn") {
    const std::string stream = pack(MessageKind::json, 0, R"({"id":1})") +
                               pack(MessageKind::release, 7, std::string("\1\0\0\0", 4)) +
                               pack(MessageKind::json, 0, "[]");
    for (std::size_t tear = 0; tear <= stream.size(); ++tear) {
        MessageReader reader(1024);
        std::vector<GuestMessage> all;
        for (const auto& piece : {stream.substr(0, tear), stream.substr(tear)}) {
            reader.feed(piece);
            while (auto message = reader.next()) all.push_back(std::move(*message));
        }
        REQUIRE(all.size() == 3);
        CHECK(all[0].payload == R"({"id":1})");
        CHECK(all[1].stream == 7);
        CHECK(all[1].payload.size() == 4);
        CHECK(all[2].payload == "[]");
        CHECK(reader.buffered() == 0);
    }
}

TEST_CASE("headers no client may send are refused before their payload comes") {
    const std::string bad =
        GENERATE(header(1025, 1, 0, 0), header(0xffffffff, 1, 0, 0), header(0, 1, 0, 0), header(2, 1, 1, 0),
                 header(2, 1, 0, 1), header(2, 2, 0, 1), header(2, 0, 0, 0), header(2, 4, 0, 0),
                 header(2, 255, 0, 0), header(65, 3, 0, 1));
    MessageReader reader(1024);
    reader.feed(bad);
    CHECK_THROWS_AS(reader.next(), Error);
}

TEST_CASE("a message of the greatest size is taken") {
    MessageReader reader(1024);
    reader.feed(pack(MessageKind::json, 0, std::string(1024, ' ')));
    CHECK(reader.next()->payload.size() == 1024);
}

TEST_CASE("a full queue drops the oldest event of the same name, then of any") {
    Outbox outbox(10);
    CHECK(outbox.put_event("aa1", "a") == 0);
    CHECK(outbox.put_event("bb1", "b") == 0);
    CHECK(outbox.put_event("bb2", "b") == 0);
    CHECK(outbox.put_event("bb3", "b") == 1);
    CHECK(outbox.put_event("cccccc", "c") == 2);
    CHECK(names(outbox) == std::vector<std::string>{"bb3", "cccccc"});
    CHECK(outbox.bytes() == 0);
}

TEST_CASE("an event that could never fit is dropped alone") {
    Outbox outbox(10);
    outbox.put_event("a", "a");
    CHECK(outbox.put_event(std::string(11, 'x'), "a") == 1);
    CHECK(names(outbox) == std::vector<std::string>{"a"});
}

TEST_CASE("what is half sent is neither dropped nor overtaken") {
    Outbox outbox(6);
    outbox.put_event("abc", "e");
    outbox.sent(1);
    CHECK(outbox.put_event("xyzuvw", "e") == 1);
    outbox.put_answer("answer", {}, 0);
    CHECK(names(outbox) == std::vector<std::string>{"bc", "answer"});
}

TEST_CASE("an answer has its place before the events that came while it was made") {
    Outbox outbox(100);
    outbox.put_event("before", "e");
    const auto first = outbox.mark();
    outbox.put_event("after", "e");
    outbox.put_answer("answer", {}, first);
    const auto second = outbox.mark();
    outbox.put_answer("next", {}, second);
    CHECK(names(outbox) == std::vector<std::string>{"before", "answer", "after", "next"});
}

TEST_CASE("frames that do not fit are not queued and drop nothing") {
    Outbox outbox(6);
    outbox.put_event("abcd", "e");
    CHECK_FALSE(outbox.put_frame("frame"));
    CHECK(outbox.put_frame("fr"));
    CHECK(names(outbox) == std::vector<std::string>{"abcd", "fr"});
}

TEST_CASE("a queue of many small events is bounded too") {
    Outbox outbox(1U << 20);
    std::size_t dropped = 0;
    for (int i = 0; i < 5000; ++i) dropped += outbox.put_event("x", "e");
    CHECK(dropped >= 3900);
}
