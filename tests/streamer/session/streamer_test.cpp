// A streamer from its registration to its end.
#include <algorithm>
#include <future>

#include "instance-agent/streamer/display/display_loss.h"
#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

#include <X11/Xlib.h>  // last: its macros have common names

using namespace svc;
using namespace svc::streamer;
using test::eventually;
using namespace std::chrono_literals;

TEST_CASE("a streamer registers and serves a client to its end") {
    StreamerPlace place;
    const Json hello = place.gateway.await("ctl:register");
    CHECK(hello.at("session_id") == Json("s1"));
    CHECK(hello.at("codecs") == Json::array({"H264", "VP8"}));
    place.peers.stats.streams.push_back({.kind = "video", .ssrc = 9});
    place.connect();
    place.control(R"({"type":"stream::disconnect","data":{}})");
    CHECK(place.gateway.await("ctl:stream").at("active") == Json(false));
    REQUIRE(eventually([&] {
        std::lock_guard lock(place.peers.mutex);
        return place.peers.ended == 1;
    }));
    std::string text(2000, '\0');  // the last sample of the stream
    REQUIRE(
        eventually([&] { return recv(place.collector.get(), text.data(), text.size(), MSG_DONTWAIT) > 0; }));
    CHECK(text.starts_with("webrtc,instance=i1,app=app,session=s1,kind=video,ssrc=9 "));
    CHECK(text.find("relay_in_use=0i") != std::string::npos);
}

TEST_CASE("the end of the session ends the streamer") {
    StreamerPlace place;
    place.connect();
    place.gateway.send(R"({"type":"ctl:terminate","reason":"deleted"})");
    place.thread.join();
    CHECK(place.peers.ended == 1);
}

TEST_CASE("a client is told why its stream ends before its peer does") {
    StreamerPlace place;
    place.connect();
    std::string code;
    SECTION("the session was deleted") {
        code = "deleted";
        place.gateway.send(R"({"type":"ctl:terminate","reason":"Deleted by request","code":"deleted"})");
    }
    SECTION("by a gateway that knows no codes") {
        code = "ended";
        place.gateway.send(R"({"type":"ctl:terminate","reason":"Deleted by request"})");
    }
    SECTION("another client has come") {
        code = "replaced";
        place.gateway.send(R"({"type":"ctl:client-joined","client_id":"c2","stun_servers":[]})");
    }
    SECTION("another client comes, as the gateway tells first") {
        code = "replaced";
        place.gateway.send(R"({"type":"ctl:client-left","client_id":"c1","reason":"replaced"})");
    }
    SECTION("it leaves its messages unread") {
        code = "not_read";
        place.gateway.send(R"({"type":"ctl:client-left","client_id":"c1","reason":"timeout"})");
    }
    SECTION("the connection does not work") {
        code = "connection_failed";
        place.peers.events->failed("too many data channels");
    }
    SECTION("the streamer is stopped, as in a guest that powers off") {
        code = "stopped";
        place.streamer->stop();
    }
    SECTION("the display has gone") {
        code = "stopped";
        place.streamer->display_lost();
    }
    CHECK(place.told("error").at("code") == Json(code));
    REQUIRE(eventually([&] { return place.peers.all_sent().back() == "end"; }));
}

// Xlib calls its handler on the thread that noticed, and ends the program when the handler returns: one that
// waits for what another thread says must not keep that one from saying it.
TEST_CASE("threads that notice the loss of the display do not wait for each other") {
    std::promise<void> first_within, second_done;
    bool waited_in_vain = false;
    const std::thread::id first = std::this_thread::get_id();
    const DisplayLoss listening([&] {
        if (std::this_thread::get_id() != first) return second_done.set_value();
        first_within.set_value();
        waited_in_vain = second_done.get_future().wait_for(30s) != std::future_status::ready;
    });
    const XIOErrorHandler noticed = XSetIOErrorHandler(nullptr);
    const std::jthread second([&] {
        first_within.get_future().wait();
        noticed(nullptr);
    });
    noticed(nullptr);
    CHECK_FALSE(waited_in_vain);
}

TEST_CASE("a lost display that is noticed twice is said once and at once on the thread that decides") {
    StreamerPlace place;
    place.connect();
    std::promise<bool> said;
    place.input->on_move = [&] {
        place.streamer->display_lost();
        said.set_value(place.peers.all_sent().back() == "end");
    };
    place.control(R"({"type":"input::mouse-move","data":{"x":1,"y":1}})");
    CHECK(said.get_future().get());
    place.streamer->display_lost();
    place.streamer->stop();
    place.thread.join();
    const auto sent = place.peers.all_sent();
    const auto tells = [](const std::string& one) { return one.find("screen is gone") != std::string::npos; };
    CHECK(std::count_if(sent.begin(), sent.end(), tells) == 1);
}

TEST_CASE("media goes on while the gateway is away and it is told of it") {
    StreamerPlace place;
    place.connect();
    place.gateway.drop();
    place.gateway.await("ctl:register");
    CHECK(place.gateway.await("ctl:stream").at("active") == Json(true));
    CHECK(place.peers.ended == 0);
}

TEST_CASE("a client that asks and does not listen loses its stream") {
    StreamerPlace place;
    place.connect();
    place.set_buffered(Streamer::max_control_buffered + 1);
    place.control(R"({"type":"vhal::get-all-prop-configs"})");
    CHECK(place.gateway.await("ctl:stream").at("active") == Json(false));
    CHECK(place.peers.all_sent() == std::vector<std::string>{"end"});
}
