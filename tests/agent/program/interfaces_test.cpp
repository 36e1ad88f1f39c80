// Both sockets with all devices, and the program that serves them.
#include "instance-agent/agent/agent_sockets.h"

#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>

#include "instance-agent/agent/files/socket_folder.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/model/instances/instance.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/support/eventually.h"
#include "tests/support/skip.h"
#include "tests/unit/net/test_server.h"

using namespace svc;
using test::GuestClient;

namespace {

class InterfacesPlace {
  public:
    InterfacesPlace() : directory_(std::filesystem::temp_directory_path(), "interfaces-test-") {
        options.session = path() / "data/session.json";
        options.api_socket = path() / "run/api.unix";
        options.guest_socket = path() / "run/guest.unix";
        options.automotive = agent::Automotive::no;
    }
    ~InterfacesPlace() { log::set_level(log::Level::info); }
    const std::filesystem::path& path() const { return directory_.path(); }
    int ask(const std::string& path = "/1.0") const {
        return test::ask(Target::parse("unix://" + options.api_socket.string()),
                         "GET " + path + " HTTP/1.1\r\nHost: s\r\n\r\n")
            .status;
    }
    std::vector<std::string> command() const {
        return {SVC_AGENT_PROGRAM,    "--session",        options.session,
                "--api-socket",       options.api_socket, "--guest-socket",
                options.guest_socket, "--automotive",     "no"};
    }

    agent::Options options;

  private:
    TemporaryDirectory directory_;
};

mode_t file_mode_of(const std::filesystem::path& path) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

}  // namespace

TEST_CASE("both sockets are served from the first moment") {
    InterfacesPlace place;
    const agent::AgentSockets interfaces(place.options, false);
    CHECK(place.ask() == 200);
    CHECK(GuestClient(place.options.guest_socket).hello().at("ok").as_bool());
    CHECK(file_mode_of(place.path() / "run") == 0751);
}

TEST_CASE("an image for vehicles is known by its variant") {
    const std::string variant = GENERATE("aaos", "android", "");
    InterfacesPlace place;
    place.options.automotive = agent::Automotive::automatic;
    AgentSession session;
    session.instance_id = "c1";
    session.token = "secret";
    session.image_variant = variant;
    make_directories(place.options.session.parent_path());
    write_file_atomically(place.options.session, session.to_json().dump());
    const agent::AgentSockets interfaces(place.options, false);
    CHECK(place.ask("/1.0/vhal/config") == (variant == "aaos" ? 200 : 500));
}

TEST_CASE("sockets that a guest's boot has hidden are made anew") {
    InterfacesPlace place;
    agent::AgentSockets interfaces(place.options, false);
    CHECK(test::eventually([&] {  // a device may be looking after its link right now
        std::error_code failed;
        std::filesystem::remove_all(place.path() / "run", failed);
        return !failed;
    }));
    interfaces.refresh();
    CHECK(std::filesystem::is_symlink(place.path() / "run/gnss"));
    CHECK(place.ask() == 200);
    CHECK(GuestClient(place.options.guest_socket).hello().at("ok").as_bool());
}

TEST_CASE("a guest keeps its connection while nothing vanishes") {
    InterfacesPlace place;
    agent::AgentSockets interfaces(place.options, false);
    GuestClient client(place.options.guest_socket);
    client.hello();
    interfaces.refresh();
    CHECK_FALSE(client.ask(R"({"id":2,"op":"nope"})").at("ok").as_bool());
}

TEST_CASE("a second agent on the same sockets is refused, but in an instance") {
    InterfacesPlace place;
    const agent::AgentSockets first(place.options, false);
    CHECK_THROWS_AS(agent::AgentSockets(place.options, false), Error);
    place.options.api_socket = place.path() / "run/other.unix";
    CHECK_NOTHROW(agent::AgentSockets(place.options, true));
    CHECK(GuestClient(place.options.guest_socket).hello().at("ok").as_bool());
}

TEST_CASE("the user's folder leads to the sockets, and what stands in the way stays") {
    test::skip_unless_root();
    const InterfacesPlace place;
    const auto ours = place.path() / "user/1000/svc-agent";
    agent::link_for_user("/run/svc", place.path());
    agent::link_for_user("/run/svc", place.path());
    CHECK(std::filesystem::read_symlink(ours / "sockets") == "/run/svc");
    CHECK(file_mode_of(place.path() / "user/1000") == 0700);
    std::filesystem::remove_all(ours);
    std::filesystem::create_directory(place.path() / "elsewhere");
    std::filesystem::create_directory_symlink(place.path() / "elsewhere", ours);
    CHECK_THROWS_AS(agent::link_for_user("/run/svc", place.path()), Error);
    CHECK(std::filesystem::is_empty(place.path() / "elsewhere"));
}

TEST_CASE("the program serves without a session until it is told to end") {
    const InterfacesPlace place;
    SpawnOptions options;
    options.arguments = place.command();
    Child agent(options);
    const auto serves = [&] {
        try {
            GuestClient(place.options.guest_socket).hello();
            return place.ask() == 200;
        } catch (const std::exception&) {
            return false;
        }
    };
    REQUIRE(test::eventually(serves));
    GuestClient client(place.options.guest_socket);
    client.hello();
    agent.kill(SIGTERM);
    CHECK(agent.wait().code == 0);
    CHECK(client.is_closed());
    CHECK_FALSE(std::filesystem::exists(place.options.api_socket));
    CHECK_FALSE(std::filesystem::exists(place.options.guest_socket));
}

TEST_CASE("an agent that was killed is followed by another on the same sockets") {
    const InterfacesPlace place;
    {
        SpawnOptions options;
        options.arguments = place.command();
        Child agent(options);
        REQUIRE(test::eventually([&] { return file_mode_of(place.options.guest_socket) == 0666; }));
        REQUIRE(test::eventually([&] { return place.ask() == 200; }));
        test::ask(Target::parse("unix://" + place.options.api_socket.string()),
                  "PATCH /1.0 HTTP/1.1\r\nHost: s\r\nContent-Length: 23\r\n\r\n{\"log_level\":\"warning\"}");
        agent.kill(SIGKILL);
        agent.wait();
    }
    CHECK(std::filesystem::exists(place.options.api_socket));
    const agent::AgentSockets next(place.options, false);
    CHECK(place.ask() == 200);
    CHECK(log::level() == log::Level::warning);
}

TEST_CASE("flags that make no sense are refused") {
    InterfacesPlace place;
    for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
             {"--automotive", "maybe"}, {"--api-socket", ""}, {"--log-level", "loud"}, {"--guest-socket"}}) {
        auto command = flags;
        command.insert(command.begin(), SVC_AGENT_PROGRAM);
        CHECK(run_command(command, test::long_wait).status.code == 2);
    }
}
