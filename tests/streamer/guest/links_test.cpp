// The streamer's connections: to a real server as the gateway, to the real agent, to programs of the guest.
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <thread>

#include "instance-agent/agent/agent_sockets.h"
#include "instance-agent/streamer/client/custom_channels.h"
#include "instance-agent/streamer/client/gateway_link.h"
#include "instance-agent/streamer/guest/agent_link.h"
#include "libsvc/base/error.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/streamer/session/played_gateway.h"
#include "tests/support/eventually.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::streamer;
using namespace std::chrono_literals;
using test::eventually;

namespace {

// Keeps what the link tells.
struct Heard {
    std::mutex mutex;
    std::vector<std::string> notes;
    void note(const std::string& text) {
        std::lock_guard lock(mutex);
        notes.push_back(text);
    }
    std::vector<std::string> all() {
        std::lock_guard lock(mutex);
        return notes;
    }
    std::size_t count(const std::string& text) {
        const auto now = all();
        return static_cast<std::size_t>(std::count(now.begin(), now.end(), text));
    }
    GatewayListener listener() {
        return {[this] { note("opened"); }, [this](const std::string& text) { note(text); },
                [this] { note("lost"); }};
    }
};

struct Program {
    explicit Program(const std::filesystem::path& path) : fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        REQUIRE(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        const timeval patience{60, 0};
        setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    }
    void say(std::string_view text) const { write_all(fd.get(), text); }
    std::string hear(std::size_t size) const {
        std::string text(size, '\0');
        const ssize_t count = recv(fd.get(), text.data(), size, MSG_WAITALL);
        return count < 0 ? "nothing" : text.substr(0, static_cast<std::size_t>(count));
    }
    FileDescriptor fd;
};

struct Channels {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "channels-test-"};
    Heard heard;
    CustomChannels channels{directory.path(), [this](const std::string& channel, std::string data) {
                                heard.note(channel + " " + data);
                            }};
    std::filesystem::path socket(const std::string& name) const {
        return directory.path() / ("webrtc_data_" + name);
    }
};

}  // namespace

TEST_CASE("messages go both ways between gateway and instance") {
    test::PlayedGateway gateway;
    Heard heard;
    SystemClock clock;
    GatewayLink link(gateway.address(), clock, heard.listener());
    REQUIRE(eventually([&] { return heard.count("opened") == 1; }));
    link.send("hello");
    REQUIRE(eventually([&] { return gateway.received() == std::vector<std::string>{"hello"}; }));
    CHECK(gateway.path() == "/1.0/sessions/s1/sockets/master");
    CHECK(gateway.query_token() == "secret");
    gateway.send("welcome");
    CHECK(eventually([&] { return heard.count("welcome") == 1; }));
}

TEST_CASE("a gateway with another certificate is refused") {
    test::PlayedGateway gateway;
    GatewayAddress address = gateway.address();
    address.target.server_fingerprint = std::string(64, 'a');
    Heard heard;
    test::ManualClock clock;
    GatewayLink link(address, clock, heard.listener());
    clock.await_waiters(1);  // it has tried, and pauses
    CHECK(heard.all().empty());
    CHECK(gateway.connections() == 0);
}

TEST_CASE("a gateway is known by the name that it told") {
    test::PlayedGateway gateway;
    Heard heard;
    SystemClock clock;
    GatewayLink link(GatewayAddress::parse(gateway.url(), gateway.named_fingerprint(), gateway.name), clock,
                     heard.listener());
    CHECK(eventually([&] { return heard.count("opened") == 1; }));
}

TEST_CASE("a lost gateway is tried again with growing pauses") {
    test::PlayedGateway gateway;
    Heard heard;
    test::ManualClock clock;
    GatewayLink link(gateway.address(), clock, heard.listener());
    for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        REQUIRE(eventually([&] { return gateway.connections() > 0; }));
        const std::size_t before = heard.count("lost");
        REQUIRE(eventually([&] { return heard.count("opened") == before + 1; }));
        gateway.drop();
        clock.await_waiters(1);
        CHECK(heard.count("lost") == before + 1);
        const int connections = gateway.all_connections();
        clock.advance(pause / 2 - 1ns);  // it waits for half of the pause to all of it
        clock.await_waiters(1);
        CHECK(gateway.all_connections() == connections);
        clock.advance(pause / 2 + 1ns);
        REQUIRE(eventually([&] { return gateway.all_connections() == connections + 1; }));
    }
}

TEST_CASE("an instance goes to another gateway when its own is gone, and stays there") {
    auto first = std::make_unique<test::PlayedGateway>();
    test::PlayedGateway second;
    GatewayAddress address = first->address();
    address.others = {second.address().target};
    Heard heard;
    test::ManualClock clock;
    GatewayLink link(address, clock, heard.listener());
    REQUIRE(eventually([&] { return first->connections() == 1; }));
    first.reset();
    clock.await_waiters(1);
    clock.advance(1s);
    REQUIRE(eventually([&] { return second.connections() == 1; }));
    second.drop();
    clock.await_waiters(1);
    clock.advance(2s);
    REQUIRE(eventually([&] { return second.all_connections() == 2; }));
}

TEST_CASE("gateways that cannot be reached are passed over without a pause") {
    test::PlayedGateway gateway;
    GatewayAddress address = gateway.address();
    address.others = {address.target, address.target};
    address.target.server_fingerprint = address.others[0].server_fingerprint = std::string(64, 'a');
    Heard heard;
    test::ManualClock clock;
    GatewayLink link(address, clock, heard.listener());
    CHECK(eventually([&] { return gateway.connections() == 1; }));
}

TEST_CASE("what was said last still reaches the gateway") {
    test::PlayedGateway gateway;
    {
        Heard heard;
        SystemClock clock;
        GatewayLink link(gateway.address(), clock, heard.listener());
        REQUIRE(eventually([&] { return heard.count("opened") == 1; }));
        for (int i = 0; i < 100; ++i) link.send(std::to_string(i));
    }
    CHECK(eventually([&] { return gateway.received().size() == 100; }));
}

TEST_CASE("addresses of gateways are checked") {
    const GatewayAddress address = GatewayAddress::parse("wss://[::1]:4000/1.0/x?token=t", "ab");
    CHECK(address.target.tls);
    CHECK(address.target.port == 4000);
    CHECK(address.target.server_fingerprint == "ab");
    CHECK(address.path == "/1.0/x?token=t");
    CHECK_FALSE(GatewayAddress::parse("ws://h:1", "").target.tls);
    GatewayAddress several = GatewayAddress::parse("wss://a:1/x", "ab", "name");
    several.add_other("wss://b:2/");
    REQUIRE(several.others.size() == 1);
    CHECK(several.others[0].host == "b");
    CHECK(several.others[0].server_fingerprint == "ab");
    CHECK(several.others[0].server_name == "name");
    CHECK_THROWS_AS(several.add_other("https://b:2"), Error);
    for (const char* url : {"", "https://h:1/", "wss://", "wss://:1/x", "wss://h:99999/"})
        CHECK_THROWS_AS(GatewayAddress::parse(url, ""), Error);
}

TEST_CASE("programs and the page exchange bytes") {
    Channels place;
    place.channels.open("one");
    const Program first(place.socket("one")), second(place.socket("one"));
    first.say("from first");
    REQUIRE(eventually([&] { return place.heard.count("one from first") == 1; }));
    second.say("from second");
    REQUIRE(eventually([&] { return place.heard.count("one from second") == 1; }));
    place.channels.to_guest("one", "hello");
    CHECK(first.hear(5) == "hello");
    CHECK(second.hear(5) == "hello");
    place.channels.close("one");
    CHECK(first.hear(1).empty());
    CHECK_FALSE(std::filesystem::exists(place.socket("one")));
}

TEST_CASE("what a page sends first waits for the program") {
    Channels place;
    place.channels.open("a");
    place.channels.to_guest("a", "early ");
    place.channels.to_guest("a", "words");
    const Program program(place.socket("a"));
    CHECK(program.hear(11) == "early words");
}

TEST_CASE("a program is read no faster than the page takes") {
    Channels place;
    place.channels.open("a");
    const Program program(place.socket("a"));
    std::jthread writer([&] { program.say(std::string(2U << 20, 'x')); });
    const auto bytes = [&] {
        std::size_t sum = 0;
        for (const std::string& note : place.heard.all()) sum += note.size() - 2;
        return sum;
    };
    std::size_t taken = 0;
    while (taken < 2U << 20) {
        REQUIRE(eventually([&] { return bytes() > taken; }));
        const std::size_t now = bytes();
        REQUIRE(now - taken <= CustomChannels::max_in_hand + CustomChannels::chunk);
        place.channels.taken("a", now - taken);
        taken = now;
    }
}

TEST_CASE("a program that does not read loses its connection and no other") {
    Channels place;
    place.channels.open("a");
    const Program idle(place.socket("a")), reader(place.socket("a"));
    reader.say("!");
    REQUIRE(eventually([&] { return place.heard.count("a !") == 1; }));
    const std::string part(16U << 10, 'x');
    constexpr std::size_t parts = 160;
    std::size_t complete = 0;
    for (std::size_t i = 0; i < parts; ++i) {
        place.channels.to_guest("a", part);
        complete += reader.hear(part.size()) == part ? 1 : 0;
    }
    CHECK(complete == parts);
    std::size_t rest = 0;
    for (std::string some = idle.hear(4096); !some.empty() && some != "nothing"; some = idle.hear(4096))
        rest += some.size();
    CHECK(rest < parts * part.size());
}

TEST_CASE("channels with bad names are refused") {
    Channels place;
    for (const std::string& name :
         {std::string(), std::string("a/b"), std::string(".."), std::string("control"), std::string("ü"),
          std::string(33, 'a'), std::string("a b")})
        CHECK_THROWS_AS(place.channels.open(name), Error);
    place.channels.open(std::string(32, 'a'));
    CHECK_THROWS_AS(place.channels.open(std::string(32, 'a')), Error);
    CHECK_NOTHROW(place.channels.to_guest("unknown", "x"));
}

TEST_CASE("the agent tells the streamer what the guest wants") {
    TemporaryDirectory directory(std::filesystem::temp_directory_path(), "agent-link-test-");
    agent::Options options;
    options.session = directory.path() / "data/session.json";
    options.api_socket = directory.path() / "run/api.unix";
    options.guest_socket = directory.path() / "run/guest.unix";
    make_directories(directory.path() / "run");
    make_directories(directory.path() / "data");
    auto interfaces = std::make_unique<agent::AgentSockets>(options, false);
    Heard heard;
    test::ManualClock clock;
    AgentLink link(
        options.guest_socket, clock,
        {[&](const Json& answer) { heard.note(answer.at("active_sensors").dump()); },
         [&](const std::string& name, const Json& members) { heard.note(name + " " + members.dump()); }});
    const auto attached = [&](std::size_t times) {
        clock.advance(AgentLink::retry_pause);
        return heard.count("[]") == times;
    };
    REQUIRE(eventually([&] { return attached(1); }));
    test::GuestClient guest(options.guest_socket);
    guest.hello();
    guest.ask(R"({"id":2,"op":"sensors.activate","type":"gyroscope","on":true})");
    CHECK(eventually([&] {
        return heard.count(R"(stream.sensor {"event":"stream.sensor","type":"gyroscope","active":true})") ==
               1;
    }));
    link.set_active(true);
    interfaces.reset();  // the agent is started anew
    interfaces = std::make_unique<agent::AgentSockets>(options, false);
    CHECK(eventually([&] { return attached(2); }));
}
