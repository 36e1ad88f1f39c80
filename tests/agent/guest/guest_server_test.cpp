#include <catch2/catch.hpp>

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "instance-agent/agent/guest/guest_peer.h"
#include "libsvc/base/error.h"
#include "libsvc/net/socket/bind.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace std::chrono_literals;
using test::GuestClient;
using test::TestGuests;

namespace {

agent::GuestServerOptions quick_hello() {
    agent::GuestServerOptions options;
    options.hello_limit = 30ms;
    return options;
}

// One that was quick enough: a busy machine may need some attempts.
std::unique_ptr<GuestClient> greeted(const TestGuests& guests) {
    std::unique_ptr<GuestClient> client;
    REQUIRE(test::eventually([&] {
        client = std::make_unique<GuestClient>(guests.socket());
        return client->greets();
    }));
    return client;
}

// The fd of a connection made by a process of another user.
FileDescriptor accept_from(const std::filesystem::path& socket, int listener, uid_t uid, gid_t group) {
    const pid_t child = fork();
    if (child == 0) {
        if (setgroups(1, &group) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
            _exit(1);
        try {
            GuestClient client(socket);
            client.receive();
        } catch (const std::exception&) {
            _exit(1);
        }
        _exit(0);
    }
    FileDescriptor accepted;
    REQUIRE(test::eventually([&] {
        accepted = FileDescriptor(accept(listener, nullptr, nullptr));
        return static_cast<bool>(accepted);
    }));
    return accepted;
}

}  // namespace

TEST_CASE("hello tells version, features and the boot") {
    TestGuests guests;
    GuestClient client(guests.socket());
    const Json answer = client.hello();
    CHECK(answer.at("id") == Json(1));
    CHECK(answer.at("ok").as_bool());
    CHECK(answer.at("version") == Json(1));
    CHECK(answer.at("features").dump() == R"(["test"])");
    CHECK(answer.at("boot_id").as_string().size() == 36);
}

TEST_CASE("who does not begin with a good hello is told and closed") {
    TestGuests guests;
    const std::string first =
        GENERATE(R"({"id":1,"op":"test.echo","text":"x"})", R"({"id":1,"op":"hello","name":"x","version":2})",
                 R"({"id":1,"op":"hello","version":1})", R"({"id":1,"op":"hello","name":5,"version":1})");
    GuestClient client(guests.socket());
    CHECK_FALSE(client.ask(first).at("ok").as_bool());
    CHECK(client.is_closed());
    CHECK(guests.device.ended() == 0);
}

TEST_CASE("who says nothing is closed in time") {
    TestGuests guests(quick_hello());
    GuestClient silent(guests.socket());
    CHECK(silent.is_closed());
}

TEST_CASE("who has said hello may be silent") {
    TestGuests guests(quick_hello());
    const auto client = greeted(guests);
    GuestClient silent(guests.socket());
    CHECK(silent.is_closed());
    CHECK(client->ask(R"({"id":2,"op":"test.echo","text":"x"})").at("text").as_string() == "x");
}

TEST_CASE("ops answer under their id, errors with their text") {
    TestGuests guests;
    GuestClient client(guests.socket());
    client.hello();
    CHECK(client.ask(R"({"id":2,"op":"test.echo","text":"x"})").dump() == R"({"id":2,"ok":true,"text":"x"})");
    CHECK(client.ask(R"({"id":-3,"op":"test.fail"})").dump() ==
          R"({"id":-3,"ok":false,"error":"camera busy"})");
    CHECK(client.ask(R"({"id":4,"op":"test.crash"})").at("error").as_string() == "internal error");
    CHECK(client.ask(R"({"id":5,"op":"nope"})").at("error").as_string() == "unknown operation");
    CHECK(client.ask(R"({"id":6})").at("error").as_string() == "unknown operation");
    CHECK_FALSE(client.hello().at("ok").as_bool());
    client.send_json(R"({"op":"test.echo","text":"unanswered"})");
    CHECK(client.ask(R"({"id":7,"op":"test.echo","text":"y"})").at("id") == Json(7));
}

TEST_CASE("what is no message closes the connection") {
    TestGuests guests;
    const std::string bad =
        GENERATE(std::string("\0\0\0\0\1\0\0\0", 8), std::string(8, '\xff'),
                 agent::pack(agent::MessageKind::frame, 1, "x"),
                 agent::pack(agent::MessageKind::json, 0, "{"), agent::pack(agent::MessageKind::json, 0, "5"),
                 agent::pack(agent::MessageKind::json, 0, R"({"id":"a","op":"test.echo"})"),
                 agent::pack(agent::MessageKind::json, 0, std::string(100'000, '[')));
    GuestClient client(guests.socket()), other(guests.socket());
    client.hello();
    other.hello();
    client.send(bad);
    CHECK(client.is_closed());
    CHECK(test::eventually([&] { return guests.device.ended() == 1; }));
    CHECK(other.ask(R"({"id":2,"op":"test.echo","text":"x"})").at("ok").as_bool());
}

TEST_CASE("an answer comes before the events of its op") {
    TestGuests guests;
    GuestClient client(guests.socket());
    client.hello();
    CHECK(client.ask(R"({"id":2,"op":"test.burst"})").at("id") == Json(2));
    CHECK(client.receive_json().at("number") == Json(1));
    CHECK(client.receive_json().at("number") == Json(2));
}

TEST_CASE("a late answer does not hold up others") {
    TestGuests guests;
    GuestClient client(guests.socket());
    client.hello();
    client.send_json(R"({"id":2,"op":"test.later"})");
    CHECK(client.ask(R"({"id":3,"op":"test.echo","text":"x"})").at("id") == Json(3));
    guests.device.late();
    CHECK(client.receive_json().dump() == R"({"id":2,"ok":true,"late":true})");
}

TEST_CASE("descriptors travel with their answer") {
    TestGuests guests;
    GuestClient client(guests.socket());
    client.hello();
    client.send_json(R"({"id":2,"op":"test.file"})");
    const auto received = client.receive();
    REQUIRE(received.descriptor);
    char text[7] = {};
    CHECK(pread(received.descriptor.get(), text, 6, 0) == 6);
    CHECK(std::string(text) == "shared");
}

TEST_CASE("releases reach the devices after hello alone") {
    TestGuests guests;
    GuestClient client(guests.socket()), early(guests.socket());
    client.hello();
    client.send(agent::pack(agent::MessageKind::release, 9, "slot"));
    CHECK(test::eventually([&] { return guests.device.released() == std::vector<std::string>{"9:slot"}; }));
    early.send(agent::pack(agent::MessageKind::release, 9, "slot"));
    CHECK(early.is_closed());
}

TEST_CASE("what is broadcast reaches those who have said hello") {
    TestGuests guests;
    GuestClient one(guests.socket()), two(guests.socket()), early(guests.socket());
    one.hello();
    two.hello();
    guests.server.broadcast(Json::object({{"event", "news"}}));
    CHECK(one.receive_json().at("event").as_string() == "news");
    CHECK(two.receive_json().at("event").as_string() == "news");
    CHECK(early.hello().at("ok").as_bool());
}

TEST_CASE("a session outlives its connection without harm") {
    TestGuests guests;
    {
        GuestClient client(guests.socket());
        client.hello();
        CHECK(client.ask(R"({"id":2,"op":"test.keep"})").at("may_control").as_bool());
    }
    CHECK(test::eventually([&] { return guests.device.ended() == 1; }));
    const auto session = guests.device.kept();
    CHECK_FALSE(session->open());
    session->send_event(Json::object({{"event", "x"}}));
    CHECK_FALSE(session->send_frame(1, "header"));
    CHECK(guests.server.sessions() == 0);
}

TEST_CASE("one more than the limit is closed, and there is room again when one goes") {
    TestGuests guests;
    std::vector<std::unique_ptr<GuestClient>> clients;
    for (int i = 0; i < 300; ++i) clients.push_back(std::make_unique<GuestClient>(guests.socket()));
    std::size_t served = 0;
    for (const auto& client : clients) {
        client->send_json(R"({"id":1,"op":"hello","name":"test","version":1})");
        served += client->receive().kind == 1 ? 1 : 0;
    }
    CHECK(served == 256);
    CHECK(guests.server.sessions() == 256);
    clients.clear();
    CHECK(test::eventually([&] { return guests.server.sessions() == 0; }));
    CHECK(GuestClient(guests.socket()).hello().at("ok").as_bool());
}

TEST_CASE("a guest that does not read loses events, not the newest, and holds nobody up") {
    TestGuests guests;
    GuestClient slow(guests.socket()), other(guests.socket());
    slow.hello();
    other.hello();
    slow.ask(R"({"id":2,"op":"test.keep"})");
    const auto session = guests.device.kept();
    const std::string padding(1000, 'x');
    const int last = 5000;
    for (int i = 1; i <= last; ++i)
        session->send_event(Json::object({{"event", "n"}, {"number", i}, {"padding", padding}}));
    CHECK(other.ask(R"({"id":3,"op":"test.echo","text":"x"})").at("ok").as_bool());
    int received = 0;
    Json event;
    do {
        event = slow.receive_json();
        ++received;
    } while (event.at("number") != Json(last));
    CHECK(received < last);
    CHECK(guests.metrics.render().find("\nruntime_guest_events_dropped_total 0\n") == std::string::npos);
}

TEST_CASE("a guest that asks without reading is not read from, and served when it does") {
    TestGuests guests;
    GuestClient greedy(guests.socket()), other(guests.socket());
    greedy.hello();
    other.hello();
    const std::string text(10'000, 'x');
    const int requests = 500;
    std::jthread writer([&] {
        for (int i = 0; i < requests; ++i)
            greedy.send_json(R"({"id":)" + std::to_string(i) + R"(,"op":"test.echo","text":")" + text +
                             "\"}");
    });
    CHECK(other.ask(R"({"id":3,"op":"test.echo","text":"x"})").at("ok").as_bool());
    for (int i = 0; i < requests; ++i) REQUIRE(greedy.receive_json().at("id") == Json(i));
}

TEST_CASE("an answer that cannot be queued ends the session") {
    agent::GuestServerOptions options;
    options.queue_bytes = 4096;
    TestGuests guests(options);
    GuestClient client(guests.socket());
    client.hello();
    client.send_json(R"({"id":2,"op":"test.echo","text":")" + std::string(5000, 'x') + "\"}");
    CHECK(client.is_closed());
}

TEST_CASE("bytes that wait are bounded for all sessions together") {
    agent::GuestServerOptions options;
    options.total_bytes = 100'000;
    TestGuests guests(options);
    GuestClient client(guests.socket());
    client.hello();
    client.ask(R"({"id":2,"op":"test.keep"})");
    const std::string padding(30'000, 'x');
    for (int i = 0; i < 100; ++i)
        guests.device.kept()->send_event(Json::object({{"event", "n"}, {"padding", padding}}));
    CHECK(guests.metrics.render().find("\nruntime_guest_events_dropped_total 0\n") == std::string::npos);
}

TEST_CASE("an unfinished message of a guest does not disturb the others") {
    TestGuests guests;
    GuestClient torn(guests.socket()), other(guests.socket());
    torn.hello();
    other.hello();
    const std::string message =
        agent::pack(agent::MessageKind::json, 0, R"({"id":2,"op":"test.echo","text":"x"})");
    for (const char byte : message.substr(0, message.size() - 1)) {
        torn.send(std::string_view(&byte, 1));
        REQUIRE(other.ask(R"({"id":3,"op":"test.echo","text":"x"})").at("ok").as_bool());
    }
    torn.send(message.substr(message.size() - 1));
    CHECK(torn.receive_json().at("ok").as_bool());
}

TEST_CASE("the socket is for everybody and goes with the server") {
    std::filesystem::path socket;
    {
        TestGuests guests;
        socket = guests.socket();
        struct stat info {};
        REQUIRE(stat(socket.c_str(), &info) == 0);
        CHECK((info.st_mode & 0777) == 0666);
        CHECK_THROWS_AS(agent::GuestServer({socket}, {}), Error);
        CHECK(GuestClient(socket).hello().at("ok").as_bool());
    }
    CHECK_FALSE(std::filesystem::exists(socket));
}

TEST_CASE("control is for root, the user and the vehicle group") {
    test::skip_unless_root();
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "peer-test-");
    const auto socket = directory.path() / "socket", groups = directory.path() / "group";
    std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
    write_file_atomically(groups, "root:x:0:\nvehicle:x:4321:\n");
    const FileDescriptor listener = net::bind_unix(socket, 0666, -1);
    const auto [uid, group, may_control] = GENERATE(std::tuple<uid_t, gid_t, bool>{65534, 65534, false},
                                                    std::tuple<uid_t, gid_t, bool>{65534, 4321, true},
                                                    std::tuple<uid_t, gid_t, bool>{1000, 65534, true});
    {
        const FileDescriptor peer = accept_from(socket, listener.get(), uid, group);
        const agent::GuestPeer told = agent::read_peer(peer.get(), groups);
        CHECK(told.uid == uid);
        CHECK(told.may_control == may_control);
    }
    int status = 0;
    while (wait(&status) > 0) CHECK(status == 0);
}
