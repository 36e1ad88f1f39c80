// Very many connections, clients that do not read, garbage, halves of messages, descriptors nobody asked for.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>

#include "libsvc/base/processes/process.h"
#include "tests/agent/hostile/whole_agent.h"
#include "tests/support/eventually.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::test;

namespace {

constexpr std::size_t wanted_connections = 10'000;
constexpr std::size_t spared_descriptors = 4'000;  // what the servers take at most, and some

// As many connections at once as this process may have, 10,000 at most.
std::size_t most_connections() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return std::min<std::size_t>(wanted_connections, limit.rlim_cur > 2 * spared_descriptors
                                                         ? limit.rlim_cur - spared_descriptors
                                                         : 1000);
}

// Nothing when the queue of the listener is full.
FileDescriptor connect_at_once(const std::filesystem::path& path) {
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        socket.reset();
    return socket;
}

// The same, with something said already, for who says nothing is closed after a while.
FileDescriptor connect_and_say(const std::filesystem::path& path, const std::string& text) {
    FileDescriptor socket = connect_at_once(path);
    if (socket) (void)::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return socket;
}

bool answers(RawClient& client) {
    client.send(http_request("GET", "/1.0"));
    return client.reply().status == 200;
}

bool answers(GuestClient& client) {
    return client.ask(R"({"id":2,"op":"sensors.list"})").at("ok").as_bool();
}

// Makes connections while `client`, that was there before, is served; they stay until the end.
template <class Client>
void flood(const std::filesystem::path& socket, Client& client) {
    const std::size_t wanted = most_connections();
    std::vector<FileDescriptor> crowd;
    while (crowd.size() < wanted) {
        FileDescriptor one = connect_at_once(socket);
        if (one) crowd.push_back(std::move(one));
        if (!one || crowd.size() % 1000 == 0) REQUIRE(answers(client));
    }
    CHECK(answers(client));
}

// `count` descriptors with one byte.
void send_descriptors(int socket, std::size_t count) {
    const FileDescriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const std::vector<int> numbers(count, file.get());
    std::vector<char> control(CMSG_SPACE(count * sizeof(int)));
    char byte = '\0';
    iovec piece{&byte, 1};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), numbers.data(), count * sizeof(int));
    (void)::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string header_of(std::uint32_t length, char kind, char flags = 0, char stream = 0) {
    std::string header(8, '\0');
    std::memcpy(header.data(), &length, 4);
    header[4] = kind;
    header[5] = flags;
    header[6] = stream;
    return header;
}

}  // namespace

TEST_CASE("ten thousand connections to the control API do not hold up who is there") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    {
        RawClient client(agent.api());
        REQUIRE(answers(client));
        GuestClient guest(agent.guest_socket());
        guest.hello();
        flood(agent.api_socket(), client);
        CHECK(answers(guest));
    }
    CHECK(eventually([&] { return ask(agent.api(), http_request("GET", "/1.0")).status == 200; }));
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("ten thousand connections to the guest socket do not hold up who is there") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    {
        GuestClient guest(agent.guest_socket());
        guest.hello();
        flood(agent.guest_socket(), guest);
        CHECK(agent.outcome("GET", "/1.0") == "200");
    }
    CHECK(eventually([&] {
        try {
            return GuestClient(agent.guest_socket()).greets();
        } catch (const std::exception&) {
            return false;
        }
    }));
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("connections that come and go leave nothing") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    for (int round = 0; round < 1000; ++round) {
        const FileDescriptor one = connect_at_once(agent.api_socket());
        const FileDescriptor other = connect_at_once(agent.guest_socket());
        if (round % 3 == 0 && one) (void)!::write(one.get(), "GET /1.0 HT", 11);
        if (round % 3 == 1 && other) (void)!::write(other.get(), "\x10\0\0", 3);
    }
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("garbage ends a connection or is answered with an error") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::string garbage(1 + random() % 3000, '\0');
        for (char& byte : garbage) byte = static_cast<char>(random());
        if (round % 4 == 0) garbage.insert(0, "GET /1.0 HTTP/1.1\r\nHost: s\r\nContent-Length: ");
        if (round % 4 == 1)
            garbage.insert(0, "POST /1.0/camera HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
        {
            RawClient client(agent.api());
            client.send(garbage);
            ::shutdown(client.descriptor(), SHUT_WR);
            const auto reply = client.reply();
            if (reply.status != 0) CHECK(WholeAgent::check_envelope(reply).at("type").as_string() == "error");
        }
        GuestClient guest(agent.guest_socket());
        if (round % 2 == 0) guest.hello();
        guest.send(round % 3 == 0 ? header_of(static_cast<std::uint32_t>(garbage.size()), 1) + garbage
                                  : garbage);
        ::shutdown(guest.descriptor(), SHUT_WR);
        while (guest.receive().kind != 0) continue;
    }
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("halves of messages keep nobody waiting") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    {
        std::vector<std::unique_ptr<GuestClient>> halves;
        for (const std::string& piece :
             {std::string("\x10"), header_of(1U << 20, 1), header_of(64, 3, 0, 1),
              header_of(1U << 20, 1) + "{", header_of(1U << 20, 1) + std::string(900'000, ' '),
              header_of(20, 1) + "{\"id\":1,\"op\":"}) {
            halves.push_back(std::make_unique<GuestClient>(agent.guest_socket()));
            halves.back()->hello();
            CHECK(halves.back()->send(piece));
        }
        for (const std::string& bad :
             {header_of(0, 1), header_of((1U << 20) + 1, 1), header_of(0xFFFFFFFF, 1), header_of(4, 2),
              header_of(65, 3), header_of(4, 0), header_of(4, 4), header_of(4, 1, 1),
              header_of(4, 1, 0, 1)}) {
            GuestClient guest(agent.guest_socket());
            guest.hello();
            guest.send(bad + "null");
            CHECK(guest.is_closed());
        }
        CHECK(agent.serves());
    }
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("descriptors nobody asked for are closed") {
    const WholeAgent agent;
    const Json camera = agent.ask("POST", "/1.0/camera", R"({"enable":true})").at("metadata");
    const std::size_t before = open_descriptors();
    {
        RawClient api(agent.api());
        GuestClient guest(agent.guest_socket());
        guest.hello();
        RawClient video(Target::parse("unix://" + camera.at("video_stream_socket").as_string()));
        const std::size_t with_clients = open_descriptors() + 3;  // the servers' ends
        for (int round = 0; round < 50; ++round)
            for (const int socket : {api.descriptor(), guest.descriptor(), video.descriptor()})
                send_descriptors(socket, 250);
        CHECK(agent.serves());
        CHECK(eventually([&] { return open_descriptors() <= with_clients; }));
    }
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("a guest that takes everything and reads nothing holds up nobody") {
    const WholeAgent agent;
    agent.switch_all(true);
    const std::size_t before = open_descriptors();
    {
        GuestClient deaf(agent.guest_socket());
        GuestClient normal(agent.guest_socket());
        normal.hello();
        deaf.hello();
        deaf.send_json(R"({"op":"location.subscribe","interval_ms":0,"format":"nmea"})");
        for (const char* sensor : {"acceleration", "gyroscope", "magnetic-field", "light"})
            deaf.send_json(std::string(R"({"op":"sensors.activate","on":true,"delay_ms":0,"type":")") +
                           sensor + "\"}");
        deaf.send_json(R"({"op":"camera.open","camera":"0","width":640,"height":480,"fps":60})");
        REQUIRE(deaf.send_json(
            R"({"op":"vhal.subscribe","props":[{"prop":291504647,"sample_rate":1000},{"prop":358614275}]})"));
        const std::string update =
            R"({"latitude":1,"longitude":2,"altitude":3,"time":4,"speed":5,"bearing":6})";
        REQUIRE(eventually([&] {
            return agent.ask("GET", "/1.0/sensors").at("metadata").at("active_sensors").as_array().size() ==
                   4;
        }));
        for (int round = 0; round < 300; ++round) {
            REQUIRE(agent.outcome("PATCH", "/1.0/location", update) == "200");
            REQUIRE(agent.outcome("PATCH", "/1.0/sensors", R"([{"type":"light","value":1}])") == "200");
            REQUIRE(answers(normal));
        }
        while (::send(deaf.descriptor(), "\x1c\0\0\0\1\0\0\0{\"id\":2,\"op\":\"sensors.list\"}", 36,
                      MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
            continue;  // asks until nothing more is taken
        REQUIRE(answers(normal));
        CHECK(agent.serves());
    }
    CHECK(eventually([&] {
        return agent.ask("GET", "/1.0/sensors").at("metadata").at("active_sensors").as_array().empty();
    }));
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("a client of the control API that does not read holds up nobody") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    {
        std::vector<std::unique_ptr<RawClient>> deaf;
        const std::string ask_much = http_request("GET", "/1.0/vhal/config");
        for (int i = 0; i < 20; ++i) {
            deaf.push_back(std::make_unique<RawClient>(agent.api()));
            for (int times = 0; times < 100; ++times)
                (void)::send(deaf.back()->descriptor(), ask_much.data(), ask_much.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        for (int times = 0; times < 50; ++times) CHECK(agent.outcome("GET", "/1.0/vhal/config") == "200");
        CHECK(agent.serves());
    }
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("a vehicle provider that answers nonsense or nothing harms nobody else") {
    ManualClock clock;  // it has a second to answer
    const WholeAgent agent({}, &clock);
    const std::size_t before = open_descriptors();
    {
        GuestClient provider(agent.guest_socket());
        provider.hello();
        REQUIRE(
            provider
                .ask(
                    R"({"id":2,"op":"vhal.provide","configs":[{"prop":291504647,"access":3,"change_mode":1}]})")
                .at("ok")
                .as_bool());
        for (const std::string& reply :
             {std::string(R"("status":0)"), std::string(R"("status":0,"value":{"int32_values":[1]})"),
              std::string(R"("status":0,"value":[])"),
              std::string(R"("status":0,"value":{"float_values":[1,2]})"),
              std::string(R"("status":-99999999999)"), std::string(R"("status":7)"),
              std::string(R"("status":0,"value":{"float_values":[1],"timestamp":-1})")}) {
            RawClient asker(agent.api());
            asker.send(http_request("GET", "/1.0/vhal/291504647"));
            const Json request = provider.receive_json();
            INFO(reply);
            CHECK(provider
                      .ask(R"({"id":3,"op":"vhal.reply","reply_to":)" +
                           std::to_string(request.at("id").as_int()) + "," + reply + "}")
                      .at("ok")
                      .as_bool());
            const Json answer = WholeAgent::check_envelope(asker.reply());
            CHECK(answer.at("error_code").as_int() == 500);
        }
        RawClient asker(agent.api());
        asker.send(http_request("GET", "/1.0/vhal/291504647"));
        (void)provider.receive_json();
        for (const char* reply_to : {"0", "-1", "9223372036854775807"})
            CHECK_FALSE(
                provider
                    .ask(std::string(R"({"id":4,"op":"vhal.reply","status":0,"reply_to":)") + reply_to + "}")
                    .at("ok")
                    .as_bool());
        clock.advance(std::chrono::seconds(1));
        CHECK(WholeAgent::outcome_of(WholeAgent::check_envelope(asker.reply())) ==
              "500 VHAL request failed: TRY_AGAIN");
    }
    CHECK(eventually([&] { return agent.outcome("GET", "/1.0/vhal/291504647") == "200"; }));
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("an agent that runs out of descriptors serves on, and all when there are some again") {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path(), "few-descriptors-");
    const auto api = directory.path() / "run/api.unix", guests = directory.path() / "run/guest.unix";
    const Target target = Target::parse("unix://" + api.string());
    SpawnOptions options;
    options.arguments = {"/usr/bin/prlimit",
                         "--nofile=100:100",
                         SVC_AGENT_PROGRAM,
                         "--session",
                         directory.path() / "data/session.json",
                         "--api-socket",
                         api,
                         "--guest-socket",
                         guests,
                         "--automotive",
                         "no"};
    Child agent(options);
    const auto serves = [&] {
        try {
            return ask(target, http_request("GET", "/1.0")).status == 200 && GuestClient(guests).greets();
        } catch (const std::exception&) {
            return false;
        }
    };
    REQUIRE(eventually(serves));
    const auto descriptors = [&] {
        const std::filesystem::directory_iterator all("/proc/" + std::to_string(agent.pid()) + "/fd");
        return std::distance(begin(all), end(all));
    };
    const auto before = descriptors();
    {
        RawClient client(target);
        GuestClient guest(guests);
        guest.hello();
        REQUIRE(answers(client));
        std::vector<FileDescriptor> crowd;
        const std::string greeting =
            agent::pack(agent::MessageKind::json, 0, R"({"op":"hello","name":"crowd","version":1})");
        for (int i = 0; i < 200; ++i) {
            crowd.push_back(connect_and_say(api, http_request("GET", "/1.0")));
            crowd.push_back(connect_and_say(guests, greeting));
        }
        REQUIRE(eventually([&] { return descriptors() >= 100; }));
        CHECK(answers(client));
        CHECK(answers(guest));
        client.send(http_request("POST", "/1.0/camera", R"({"enable":true})"));
        CHECK(WholeAgent::check_envelope(client.reply()).at("error_code").as_int() == 500);
        const Json opened =
            guest.ask(R"({"id":3,"op":"camera.open","camera":"0","width":640,"height":480,"fps":1})");
        CHECK_FALSE(opened.at("ok").as_bool());
    }
    CHECK(eventually(serves));
    CHECK(eventually([&] { return descriptors() <= before; }));
    agent.kill(SIGTERM);
    CHECK(agent.wait().code == 0);
}
