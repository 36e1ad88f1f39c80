// Channels of the page as sockets of the guest.
#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

TEST_CASE("a channel of the page is a socket in the guest") {
    StreamerPlace place;
    place.connect(R"(,"data_channels":["chat"])");
    place.peers.events->channel_opened("chat");
    const auto path = place.directory.path() / "run/webrtc_data_chat";
    const FileDescriptor program = place.program_at("chat");
    place.set_buffered(PageWriter::max_buffered + 1);
    write_all(program.get(), "hello page");
    place.peers.events->channel_message("chat", true, "hello guest");
    char text[11];
    CHECK(recv(program.get(), text, sizeof(text), MSG_WAITALL) == 11);
    CHECK(place.peers.all_sent().empty());  // the page is slow
    place.set_buffered(0);
    CHECK(eventually(
        [&] { return place.peers.all_sent() == std::vector<std::string>{"chat binary hello page"}; }));
    place.peers.events->channel_closed("chat");
    CHECK(eventually([&] { return !std::filesystem::exists(path); }));
}

TEST_CASE("what programs write reaches a slow page in its order") {
    StreamerPlace place;
    place.connect(R"(,"data_channels":["chat"])");
    place.peers.events->channel_opened("chat");
    const FileDescriptor program = place.program_at("chat");
    std::vector<std::string> wanted;
    for (const std::string round : {"1", "2", "3", "4", "5"}) {
        const std::size_t before = place.buffered_asked();
        place.set_buffered(PageWriter::max_buffered + 1);
        write_all(program.get(), "first " + round);
        REQUIRE(eventually([&] { return place.buffered_asked() > before; }));
        place.set_buffered(0);
        write_all(program.get(), "second " + round);
        wanted.push_back("chat binary first " + round);
        wanted.push_back("chat binary second " + round);
        REQUIRE(eventually([&] { return place.peers.all_sent().size() >= wanted.size(); }));
    }
    CHECK(place.peers.all_sent() == wanted);
}
