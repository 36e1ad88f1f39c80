// The client's channel `svc:clipboard`, with a clipboard that is played.
#include "instance-agent/streamer/client/clipboard_channel.h"

#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

namespace {

const std::string label(clipboard_label);

// What happens at the guest.
struct PlayedClipboard {
    ClipboardEvents events;
    std::vector<ClipboardContent> given;
    bool followed = false;
};

class PlayedClipboardPart final : public Clipboard {
  public:
    explicit PlayedClipboardPart(PlayedClipboard& played) : played_(played) {}
    void give(ClipboardContent content) override {
        played_.given.push_back(std::move(content));
        played_.events.given();
    }
    void follow(bool on) override { played_.followed = on; }

  private:
    PlayedClipboard& played_;
};

// The channel on a queue that the test runs.
struct ChannelDesk {
    test::ManualClock clock;
    EventQueue queue{clock};
    test::PeerRecord record;
    PlayedClipboard guest;
    struct NoEvents final : PeerEvents {
        void local_offer(const std::string&) override {}
        void local_candidate(const std::string&, unsigned) override {}
        void connected() override {}
        void failed(const std::string&) override {}
        void left() override {}
        void channel_opened(const std::string&) override {}
        void channel_closed(const std::string&) override {}
        void channel_message(const std::string&, bool, std::string_view) override {}
    } no_events;
    test::FakePeer peer{record, {}, no_events};
    ClipboardChannel channel{queue, [this] { return &peer; },
                             [this](ClipboardEvents events) {
                                 guest.events = std::move(events);
                                 return std::make_unique<PlayedClipboardPart>(guest);
                             }};

    ChannelDesk() {
        channel.allow({true, true, true, true});
        channel.opened();
    }
    void paste(const std::string& format, std::int64_t size) {
        channel.take(false,
                     R"({"type":"paste","format":")" + format + R"(","size":)" + std::to_string(size) + "}");
    }
    void copied(std::string text) {
        guest.events.copied({ClipboardFormat::text, std::make_shared<const std::string>(std::move(text))});
        queue.run_due();
    }
    // The types of the messages to the client; "bytes" for binary ones.
    std::vector<std::string> told() {
        queue.run_due();
        std::vector<std::string> types;
        for (const std::string& sent : record.all_sent())
            types.push_back(sent.starts_with(label + " binary") ? "bytes"
                                                                : sent.substr(sent.find("type\":\"") + 7));
        for (std::string& type : types) type = type.substr(0, type.find('"'));
        return types;
    }
};
using Types = std::vector<std::string>;

}  // namespace

TEST_CASE("what the client pastes is given when all of it is there") {
    ChannelDesk desk;
    desk.paste("text/plain", 5);
    desk.channel.take(true, "hel");
    CHECK(desk.guest.given.empty());
    desk.channel.take(true, "lo");
    REQUIRE(desk.guest.given.size() == 1);
    CHECK(*desk.guest.given[0].data == "hello");
    CHECK(desk.told() == Types{"allowed", "ack", "taken"});
}

TEST_CASE("a large paste is acknowledged on its way") {
    ChannelDesk desk;
    const std::size_t size = 2 * ClipboardChannel::ack_every + 1;
    desk.paste("text/plain", static_cast<std::int64_t>(size));
    for (std::size_t sent = 0; sent < size; sent += 16384)
        desk.channel.take(true, std::string(std::min<std::size_t>(16384, size - sent), 'x'));
    CHECK(desk.told() == Types{"allowed", "ack", "ack", "ack", "taken"});
}

TEST_CASE("what is no content is refused, and the next paste works") {
    ChannelDesk desk;
    SECTION("a size above the limit") {
        desk.paste("text/plain", static_cast<std::int64_t>(max_clipboard) + 1);
    }
    SECTION("no size") {
        desk.paste("text/plain", 0);
    }
    SECTION("a negative size") {
        desk.paste("text/plain", -5);
    }
    SECTION("another format") {
        desk.paste("text/html", 5);
    }
    SECTION("more bytes than were said") {
        desk.paste("text/plain", 2);
        desk.channel.take(true, "abc");
    }
    SECTION("a picture that is none") {
        desk.paste("image/png", 3);
        desk.channel.take(true, "abc");
    }
    desk.channel.take(true, "bytes that nobody announced");
    const Types told = desk.told();
    CHECK(std::count(told.begin(), told.end(), "refused") == 1);
    CHECK(desk.guest.given.empty());
    desk.paste("text/plain", 2);
    desk.channel.take(true, "ok");
    CHECK(desk.guest.given.size() == 1);
}

TEST_CASE("malformed messages about the clipboard are ignored") {
    ChannelDesk desk;
    for (const char* text : {"", "{", "[]", R"({"type":1})", R"({"type":"nonsense"})", R"({"type":"paste"})",
                             R"({"type":"follow","on":"yes"})"})
        desk.channel.take(false, text);
    CHECK(desk.told() == Types{"allowed"});
    CHECK_FALSE(desk.guest.followed);
}

TEST_CASE("what the guest copies goes to a client that wants it") {
    ChannelDesk desk;
    desk.copied("unwanted");
    CHECK(desk.told() == Types{"allowed"});
    desk.channel.take(false, R"({"type":"follow","on":true})");
    CHECK(desk.guest.followed);
    desk.copied(std::string(ClipboardChannel::chunk + 1, 'x'));
    CHECK(desk.told() == Types{"allowed", "copied", "bytes", "bytes"});
    desk.channel.take(false, R"({"type":"follow","on":false})");
    CHECK_FALSE(desk.guest.followed);
}

TEST_CASE("a slow client gets the newest copy after the one that is under way") {
    ChannelDesk desk;
    desk.channel.take(false, R"({"type":"follow","on":true})");
    desk.record.buffered = ClipboardChannel::max_buffered + 1;
    for (const char* text : {"first", "second", "third"}) desk.copied(text);
    CHECK(desk.told() == Types{"allowed", "copied"});
    desk.record.buffered = 0;
    desk.clock.advance(ClipboardChannel::buffer_check);
    CHECK(desk.told() == Types{"allowed", "copied", "bytes", "copied", "bytes"});
    CHECK(desk.record.all_sent().back() == label + " binary third");
}

TEST_CASE("the operator forbids either direction") {
    ChannelDesk desk;
    desk.channel.take(false, R"({"type":"follow","on":true})");
    desk.channel.allow({false, true});
    desk.paste("text/plain", 1);
    desk.channel.take(true, "x");
    CHECK(desk.guest.given.empty());
    CHECK(desk.guest.followed);
    desk.channel.allow({true, false});
    CHECK_FALSE(desk.guest.followed);
    desk.copied("on its way already");
    CHECK(desk.told() == Types{"allowed", "allowed", "refused", "allowed"});
    desk.channel.allow({true, true});
    CHECK(desk.guest.followed);
}

TEST_CASE("a client that goes is followed no more, and the next one begins anew") {
    ChannelDesk desk;
    desk.channel.take(false, R"({"type":"follow","on":true})");
    desk.paste("text/plain", 2);
    desk.channel.take(true, "a");
    desk.channel.closed();
    CHECK_FALSE(desk.guest.followed);
    desk.channel.opened();
    desk.channel.take(true, "b");
    CHECK(desk.guest.given.empty());
    CHECK(desk.told() == Types{"allowed", "allowed"});
}

TEST_CASE("an operator's item reaches the clipboard of a streamed instance") {
    PlayedClipboard guest;
    StreamerPlace place([&](StreamerParts& parts) {
        parts.make_clipboard = [&](ClipboardEvents events) {
            guest.events = std::move(events);
            return std::make_unique<PlayedClipboardPart>(guest);
        };
    });
    place.connect();
    place.peers.events->channel_opened(label);
    const auto says = [&](const std::string& text) {
        return eventually([&] {
            const auto sent = place.peers.all_sent();
            return std::any_of(sent.begin(), sent.end(),
                               [&](const std::string& one) { return one.ends_with(text); });
        });
    };
    CHECK(says(R"("to_instance":true,"from_instance":true})"));
    place.api(Method::patch, "/1.0/platform", Json::parse(R"({"config":{"clipboard_to_instance":false}})"));
    CHECK(says(R"("to_instance":false,"from_instance":true})"));
}

TEST_CASE("nothing passes before the agent has told what may") {
    ChannelDesk desk;
    desk.channel.allow(Permissions());
    desk.paste("text/plain", 5);
    desk.channel.take(true, "hello");
    CHECK(desk.guest.given.empty());
    CHECK(desk.told() == Types{"allowed", "allowed", "refused"});
}

TEST_CASE("what is being copied to the client ends when the operator forbids it") {
    ChannelDesk desk;
    desk.channel.take(false, R"({"type":"follow","on":true})");
    desk.record.buffered = ClipboardChannel::max_buffered + 1;
    desk.copied("secret");
    desk.channel.allow({true, false, true, true});
    desk.record.buffered = 0;
    desk.clock.advance(ClipboardChannel::buffer_check);
    CHECK(desk.told() == Types{"allowed", "copied", "allowed"});
}
