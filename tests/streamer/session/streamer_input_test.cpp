// A client's keys, pointer and touches on their way to the guest.
#include "tests/streamer/session/streamer_place.h"

using namespace svc;
using namespace svc::streamer;

TEST_CASE("input reaches its sink and is let go at the end") {
    StreamerPlace place;
    place.connect();
    place.control("no JSON");
    place.control(R"({"type":"unknown"})");
    place.control(R"({"type":"input::key","data":{"code":4,"pressed":true}})");
    place.control(R"({"type":"stream::disconnect"})");
    place.gateway.await("ctl:stream");
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() == std::vector<std::string>{"size 1280 720", "key 30 true", "release"});
}

TEST_CASE("what is held is let go when the control channel closes") {
    StreamerPlace place;
    place.connect();
    place.control(R"({"type":"input::mouse-button","data":{"button":1,"pressed":true}})");
    place.peers.events->channel_closed("control");
    place.gateway.send(R"({"type":"ctl:ping"})");
    place.gateway.await("ctl:pong");
    CHECK(place.peers.ended == 0);
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() ==
          std::vector<std::string>{"size 1280 720", "button 1 true", "release", "release"});
}

TEST_CASE("what is held is let go when the client falls silent") {
    StreamerPlace place;
    place.connect();
    place.control(R"({"type":"input::key","data":{"code":4,"pressed":true}})");
    place.peers.events->fell_silent();
    place.control(R"({"type":"input::key","data":{"code":5,"pressed":true}})");  // it came back
    place.control(R"({"type":"stream::disconnect"})");
    place.gateway.await("ctl:stream");
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() ==
          std::vector<std::string>{"size 1280 720", "key 30 true", "release", "key 48 true", "release"});
}

TEST_CASE("a client that floods with text is held back by its length") {
    StreamerPlace place;
    place.connect();
    const std::string text(2000, 'x');
    for (int i = 0; i < 100; ++i)
        place.control(R"({"type":"input::ime-event","data":{"type":1,"data":{"text":")" + text + R"("}}})");
    place.control(R"({"type":"stream::disconnect"})");
    place.gateway.await("ctl:stream");
    place.streamer->stop();
    place.thread.join();
    const auto notes = place.input->take();
    const auto typed =
        std::count_if(notes.begin(), notes.end(), [](const auto& note) { return note.starts_with("text"); });
    CHECK(typed >= 2);
    CHECK(typed < 50);
}
