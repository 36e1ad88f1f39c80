#include "libsvc/services/exec/exec_service.h"

#include <algorithm>

#include "tests/support/error_code.h"
#include "tests/support/eventually.h"
#include "tests/unit/services/service_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

// A client's end of one stream.
class Client final : public ExecChannel {
  public:
    struct Seen {
        std::string data;
        bool end = false, closed = false, paused = false;
    };
    bool send(std::string data) override {
        if (gone) return false;
        seen.change([&](Seen& s) { s.data += data; });
        return true;
    }
    bool send_end() override {
        seen.change([](Seen& s) { s.end = true; });
        return true;
    }
    std::size_t queued_bytes() const override { return queued; }
    void pause() override {
        seen.change([](Seen& s) { s.paused = true; });
    }
    void resume() override {
        seen.change([](Seen& s) { s.paused = false; });
    }
    void close() override {
        seen.change([](Seen& s) { s.closed = true; });
    }
    Watched<Seen> seen;
    std::atomic<std::size_t> queued{0};
    std::atomic<bool> gone{false};
};

struct ExecFixture : ServiceFixture {
    ExecFixture() {
        add_image("base");
        container = launched();
    }
    // Streams refer to sessions of the service: they go first.
    ~ExecFixture() { streams.clear(); }

    Started start(std::vector<std::string> command, bool interactive = false) {
        ExecRequest request;
        request.command = std::move(command);
        request.interactive = interactive;
        started = life->exec_service.start(container, request, PathWord::containers, "test");
        return started;
    }
    std::string secret(const std::string& name) { return started->metadata.at("fds").at(name).as_string(); }
    void connect(const std::string& name, std::size_t queued = 0) {
        streams[name] = life->exec_service.connect(started->id.str(), secret(name));
        clients[name] = std::make_shared<Client>();
        clients[name]->queued = queued;
        streams[name]->attach(clients[name]);
    }
    void connect_all() {
        for (const char* name : {"0", "1", "2", "control"}) connect(name);
    }
    std::shared_ptr<const Operation> done() { return wait(started); }
    std::int64_t code() { return done()->metadata.at("return").as_int(); }
    Client::Seen seen(const std::string& name) { return clients.at(name)->seen.get(); }

    std::string container;
    Started started;
    std::map<std::string, std::shared_ptr<ExecStream>> streams;
    std::map<std::string, std::shared_ptr<Client>> clients;
};

}  // namespace

TEST_CASE_METHOD(ExecFixture, "a command's output comes before the end mark, its code with the operation") {
    start({"echo", "hello", "world"});
    CHECK(started->cls == OperationClass::websocket);
    CHECK(started->description == "Executing command");
    connect_all();
    CHECK(code() == 0);
    CHECK(done()->status == OperationStatus::success);
    CHECK(seen("1").data == "hello world\n");
    for (const char* name : {"1", "2"}) CHECK((seen(name).end && seen(name).closed));
    CHECK(seen("control").closed);
}

TEST_CASE_METHOD(ExecFixture, "a command that fails is a success with its code") {
    start({"false"});
    connect_all();
    CHECK(code() == 1);
    CHECK(done()->status == OperationStatus::success);
}

TEST_CASE_METHOD(ExecFixture, "a command that is not there is a failure with its code") {
    start({"no-such-command"});
    connect_all();
    CHECK(done()->status == OperationStatus::failure);
    CHECK(done()->err == "Command not found");
    CHECK(code() == 127);
}

TEST_CASE_METHOD(ExecFixture, "input reaches the command whole, in bounded memory") {
    start({"cat"});
    connect_all();
    const std::string block(256 << 10, 'x');
    for (int i = 0; i < 64; ++i) {
        clients["0"]->seen.await([](const Client::Seen& s) { return !s.paused; });
        streams["0"]->data(block);
    }
    streams["0"]->text("");
    CHECK(code() == 0);
    CHECK(seen("1").data.size() == 64 * block.size());
}

TEST_CASE_METHOD(ExecFixture, "output waits while the client's queue is full") {
    start({"cat"});
    connect("1", 1 << 20);
    connect("2");
    connect("0");
    streams["0"]->data("hello");
    streams["0"]->text("");
    CHECK(seen("1").data.empty());
    CHECK_FALSE(is_final(engine().get(started->id.str())->status));
    clients["1"]->queued = 0;
    streams["1"]->drained();
    CHECK(code() == 0);
    CHECK(seen("1").data == "hello");
}

TEST_CASE_METHOD(ExecFixture, "a normally closed input is its end") {
    start({"cat"});
    connect_all();
    streams["0"]->data("last words");
    streams["0"]->closed(ExecEnd::normal);
    CHECK(code() == 0);
    CHECK(seen("1").data == "last words");
}

TEST_CASE_METHOD(ExecFixture, "input may end before the other sockets are there") {
    start({"cat"});
    connect("0");
    streams["0"]->data("early");
    streams["0"]->closed(ExecEnd::normal);
    connect("1");
    connect("2");
    CHECK(code() == 0);
    CHECK(seen("1").data == "early");
}

TEST_CASE_METHOD(ExecFixture, "an input cut off behind a message has ended, before and after the start") {
    start({"cat"});
    connect("0");
    streams["0"]->data("last ");
    SECTION("before") {
        streams["0"]->closed(ExecEnd::cut);
    }
    connect("1");
    connect("2");
    SECTION("after") {
        streams["0"]->data("words");
        streams["0"]->closed(ExecEnd::cut);
    }
    CHECK(code() == 0);
    CHECK_THAT(seen("1").data, Catch::StartsWith("last "));
    CHECK(seen("1").end);
}

TEST_CASE_METHOD(ExecFixture, "a fault of the input, and what else is lost, takes the command with it") {
    const auto code_after = [&](const std::string& stream, ExecEnd end) {
        start({"cat"});
        connect_all();
        streams["0"]->data("x");
        clients["1"]->seen.await([](const Client::Seen& s) { return s.data == "x"; });
        streams[stream]->closed(end);
        return code();
    };
    CHECK(code_after("0", ExecEnd::fault) == 128 + 9);
    for (const char* stream : {"1", "2", "control"}) CHECK(code_after(stream, ExecEnd::cut) == 128 + 9);
}

TEST_CASE_METHOD(ExecFixture, "a terminal ends with its data socket") {
    start({"cat"}, true);
    connect("0");
    streams["0"]->data("x");
    clients["0"]->seen.await([](const Client::Seen& s) { return s.data == "x"; });
    streams["0"]->closed(ExecEnd::cut);
    CHECK(code() == 128 + 9);
}

TEST_CASE_METHOD(ExecFixture, "a terminal ends when its output cannot be sent any more") {
    start({"cat"}, true);
    connect("0");
    streams["0"]->data("x");
    clients["0"]->seen.await([](const Client::Seen& s) { return s.data == "x"; });
    clients["0"]->gone = true;
    streams["0"]->data("y");
    CHECK(code() == 128 + 9);
}

TEST_CASE_METHOD(ExecFixture, "a plain command goes on when its output cannot be sent any more") {
    start({"cat"});
    connect_all();
    clients["1"]->gone = true;
    streams["0"]->data("x");
    streams["0"]->text("");
    CHECK(code() == 0);
}

TEST_CASE_METHOD(ExecFixture, "a client that goes away takes the command with it") {
    start({"cat"});
    connect_all();
    streams["0"]->data("x");
    clients["1"]->seen.await([](const Client::Seen& s) { return s.data == "x"; });
    streams["1"]->closed(ExecEnd::cut);
    CHECK(code() == 128 + 9);
}

TEST_CASE_METHOD(ExecFixture, "a client that goes away before the start ends it at once") {
    start({"cat"});
    connect("0");
    connect("1");
    streams["1"]->closed(ExecEnd::cut);
    CHECK(done()->err == "connection lost before the command started");
    CHECK(seen("0").closed);
}

TEST_CASE_METHOD(ExecFixture, "signals of the control socket reach the command, the rest is ignored") {
    start({"sleep", "1h"});
    connect_all();
    streams["control"]->text("nonsense");
    streams["control"]->text(R"({"command":"dance"})");
    streams["control"]->text(R"({"command":"signal","args":null,"signal":15})");
    CHECK(code() == 128 + 15);
}

TEST_CASE_METHOD(ExecFixture, "a cancelled command is killed") {
    start({"sleep", "1h"});
    connect_all();
    engine().cancel(started->id.str());
    CHECK(done()->status == OperationStatus::cancelled);
    CHECK(seen("1").closed);
}

TEST_CASE_METHOD(ExecFixture, "a command ends with the trust in who has asked for it") {
    bool lost = false;
    ExecRequest request;
    request.command = {"sleep", "1h"};
    const auto begin = [&] {
        return life->exec_service.start(container, request, PathWord::containers, "test",
                                        [&lost] { return lost; });
    };
    started = begin();
    connect_all();
    life->exec_service.cancel_distrusted();
    CHECK(engine().get(started->id.str())->status == OperationStatus::running);
    lost = true;
    life->exec_service.cancel_distrusted();
    CHECK(done()->status == OperationStatus::cancelled);
    CHECK(seen("1").closed);
    CHECK(code_of(begin) == ErrorCode::forbidden);
}

TEST_CASE_METHOD(ExecFixture, "a command cancelled before its sockets came does not start") {
    start({"sleep", "1h"});
    connect("0");
    engine().cancel(started->id.str());
    CHECK(done()->status == OperationStatus::cancelled);
    CHECK(seen("0").closed);
}

TEST_CASE_METHOD(ExecFixture, "a command ends with the container") {
    start({"sleep", "1h"});
    connect_all();
    wait(instances().set_desired_status(container, "stopped", false, PathWord::containers, "test"));
    // Stopped before the command was there: then it could not start.
    if (done()->status == OperationStatus::success)
        CHECK(code() == 129);
    else
        CHECK_THAT(done()->err, Catch::Contains("not running"));
}

TEST_CASE_METHOD(ExecFixture, "sockets that do not come in time end it") {
    start({"true"});
    connect("0");
    turn_clock_until("the exec operation has ended", std::chrono::seconds(1),
                     [&] { return is_final(engine().get(started->id.str())->status); });
    CHECK(done()->err == "Timed out waiting for websockets to connect");
    CHECK(seen("0").closed);
}

TEST_CASE_METHOD(ExecFixture, "a terminal has one data socket") {
    start({"echo", "hello"}, true);
    CHECK(started->metadata.at("fds").as_object().size() == 2);
    connect("control");
    streams["control"]->text(R"({"command":"window-resize","args":{"width":"120","height":"40"}})");
    connect("0");
    CHECK(code() == 0);
    CHECK(seen("0").data == "hello\n");
    CHECK(seen("0").end);
}

TEST_CASE_METHOD(ExecFixture, "a secret opens one socket once") {
    start({"sleep", "1h"});
    auto& service = life->exec_service;
    const std::string id = started->id.str();
    CHECK(code_of([&] { service.connect(id, ""); }) == ErrorCode::unauthenticated);
    CHECK(code_of([&] { service.connect(id, std::string(64, 'x')); }) == ErrorCode::forbidden);
    CHECK(code_of([&] { service.connect("none", secret("0")); }) == ErrorCode::not_found);
    connect("0");
    CHECK(code_of([&] { service.connect(id, secret("0")); }) == ErrorCode::invalid_argument);
    service.connect(id, secret("1"));  // its handshake failed
    CHECK_NOTHROW(connect("1"));
    engine().cancel(id);
    done();
    CHECK(code_of([&] { service.connect(id, secret("2")); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(ExecFixture, "secrets are in the answer to the request alone") {
    start({"true"});
    CHECK(to_json(*engine().get(started->id.str())).at("metadata").find("fds") == nullptr);
    CHECK(sqlite.get("operations/" + started->id.str())->value.find(secret("0")) == std::string::npos);
    connect_all();
    done();
}

TEST_CASE_METHOD(ExecFixture, "only what runs takes commands") {
    ExecRequest request;
    request.command = {"true"};
    const auto exec = [&](const std::string& id) {
        return code_of([&] { life->exec_service.start(id, request, PathWord::containers, "test"); });
    };
    CHECK(exec("none") == ErrorCode::not_found);
    wait(instances().set_desired_status(container, "stopped", false, PathWord::containers, "test"));
    CHECK(exec(container) == ErrorCode::invalid_argument);
}
