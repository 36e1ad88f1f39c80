#include "libsvc/client/remote_exec.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <mutex>
#include <thread>

#include "libsvc/base/error.h"
#include "tests/unit/client/fake_service.h"

using namespace svc;
using namespace svc::test;

namespace {

// The service's side of one exec.
struct ExecService {
    explicit ExecService(bool interactive) {
        Json secrets = Json::object();
        for (const std::string name : {"0", "1", "2", "control"}) {
            if (interactive && (name == "1" || name == "2")) continue;
            secrets.set(name, "secret-" + name);
            sockets[name] = service.websocket(operation_path + "/websocket", "secret-" + name);
        }
        service.on("/1.0/instances/abc/exec", [=](const Request&) {
            return operation_record(103, "", Json::object({{"fds", secrets}}));
        });
        service.on(operation_path + "/wait", [this](const Request&) { return final_record; });
        service.start();
    }
    Json body() { return Json::parse(service.last_request().body); }
    void say(const std::string& name, const std::string& data) { sockets[name]->socket()->send_binary(data); }
    void end(const std::string& name) {
        sockets[name]->socket()->send_text("");
        sockets[name]->socket()->close(CloseCode::normal, "");
    }

    std::map<std::string, std::shared_ptr<FakeSocket>> sockets;
    Json final_record = operation_record(200, "", Json::object({{"return", 3}}));
    FakeService service;
};

struct Outputs {
    std::mutex mutex;
    std::map<int, std::string> texts;
    std::function<void(int, std::string_view)> receiver() {
        return [this](int stream, std::string_view data) {
            const std::lock_guard lock(mutex);
            texts[stream] += data;
        };
    }
};

ExecRequest request_for(std::vector<std::string> command, bool interactive = false) {
    ExecRequest request;
    request.command = std::move(command);
    request.interactive = interactive;
    return request;
}

}  // namespace

TEST_CASE("outputs arrive whole and apart, then the exit status") {
    ExecService remote(false);
    ApiClient client(remote.service.target());
    RemoteExec session(client, "abc", request_for({"ls", "-l"}));
    CHECK(remote.body().at("command") == Json::array({"ls", "-l"}));
    remote.say("1", "out");
    remote.say("2", "err");
    remote.say("1", "put");
    for (const auto* name : {"1", "2", "0", "control"}) remote.end(name);
    Outputs outputs;
    const RemoteExecResult result = session.run(outputs.receiver());
    CHECK(result.status == 3);
    CHECK_FALSE(result.lost);
    CHECK(outputs.texts == std::map<int, std::string>{{1, "output"}, {2, "err"}});
}

TEST_CASE("input goes out, its end is the empty text and a close") {
    ExecService remote(false);
    ApiClient client(remote.service.target());
    RemoteExec session(client, "abc", request_for({"cat"}));
    session.send_input("hello");
    session.end_input();
    CHECK(remote.sockets["0"]->next_message() == "hello");
    CHECK(remote.sockets["0"]->next_message() == "text:");
    CHECK(remote.sockets["0"]->next_message() == "close");
}

TEST_CASE("an interactive session has one stream, and takes sizes and signals") {
    ExecService remote(true);
    ApiClient client(remote.service.target());
    RemoteExec session(client, "abc", request_for({"sh"}, true));
    CHECK(remote.body().at("width").as_int() == 80);
    session.resize(120, 40);
    session.send_signal(SIGTERM);
    CHECK(Json::parse(remote.sockets["control"]->next_message().substr(5)) ==
          Json::parse(R"({"command":"window-resize","args":{"width":"120","height":"40"},"signal":0})"));
    CHECK(Json::parse(remote.sockets["control"]->next_message().substr(5)) ==
          Json::parse(R"({"command":"signal","args":null,"signal":15})"));
    remote.say("0", "$ ");
    remote.end("0");
    Outputs outputs;
    CHECK(session.run(outputs.receiver()).status == 3);
    CHECK(outputs.texts == std::map<int, std::string>{{1, "$ "}});
}

TEST_CASE("a broken stream is a lost connection, whatever the others do") {
    ExecService remote(false);
    ApiClient client(remote.service.target());
    RemoteExec session(client, "abc", request_for({"sleep"}));
    remote.sockets["1"]->socket()->abort();
    Outputs outputs;
    const RemoteExecResult result = session.run(outputs.receiver());
    CHECK(result.lost);
    CHECK_FALSE(result.status);
}

TEST_CASE("a command that could not be run says why") {
    ExecService remote(false);
    remote.final_record = operation_record(400, "Command not found", Json::object({{"return", 127}}));
    ApiClient client(remote.service.target());
    RemoteExec session(client, "abc", request_for({"nothing"}));
    for (const auto* name : {"1", "2"}) remote.end(name);
    const RemoteExecResult result = session.run([](int, std::string_view) {});
    CHECK(result.status == 127);
    CHECK(result.error == "Command not found");
}

TEST_CASE("a receiver that fails ends the session with its error") {
    ExecService remote(false);
    ApiClient client(remote.service.target());
    RemoteExec session(client, "abc", request_for({"yes"}));
    remote.say("1", "y");
    CHECK_THROWS_WITH(session.run([](int, std::string_view) { throw Error(ErrorCode::internal, "full"); }),
                      "full");
    CHECK(remote.sockets["2"]->next_message() == "close");
}
