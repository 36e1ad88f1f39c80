// Refusals and the audit's file: while the file takes no line, a bounded number of them waits, and no thread
// that serves clients does.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/audit/audited_requests.h"
#include "server/http/response.h"
#include "tests/support/eventually.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// A full pipe stands in for the file: writing to it blocks until somebody reads, as on a disk that hangs.
class HangingFile {
  public:
    explicit HangingFile(const std::filesystem::path& path) {
        REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
        pipe_ = open_file(path, O_RDWR | O_NONBLOCK);
        for (char byte = ' '; ::write(pipe_.get(), &byte, 1) == 1;) ++filled_;
    }
    ~HangingFile() { let_go(); }
    HangingFile(const HangingFile&) = delete;
    HangingFile& operator=(const HangingFile&) = delete;
    // Whoever waits goes on, also after a test that has failed: the pipe has room.
    void let_go() { ::fcntl(pipe_.get(), F_SETPIPE_SZ, 1 << 20); }
    // The disk works again: the lines that were, and are, written to the file.
    std::vector<Json> lines(std::size_t count) {
        std::vector<Json> all;
        while (all.size() < count) {
            const std::string text = text_up_to_newline();
            all.push_back(Json::parse(text));
        }
        return all;
    }

  private:
    char next() {
        pollfd waiting{pipe_.get(), POLLIN, 0};
        REQUIRE(::poll(&waiting, 1, std::chrono::milliseconds(long_wait).count()) == 1);
        char byte = 0;
        REQUIRE(::read(pipe_.get(), &byte, 1) == 1);
        return byte;
    }
    std::string text_up_to_newline() {
        for (; filled_ > 0; --filled_) next();
        std::string text;
        for (char byte = next(); byte != '\n'; byte = next()) text += byte;
        return text;
    }

    FileDescriptor pipe_;
    std::size_t filled_ = 0;
};

// Refuses everything.
class RefusingService final : public HttpService {
  public:
    RequestPlan plan(Request&) override { return {}; }
    Response fault(const Request*, const std::exception& error) override { return server::failure(error); }
    void done(const Request&, int, std::uint64_t, std::uint64_t, std::chrono::nanoseconds) override {}
};

Request request_of_admin(const std::string& path) {
    const auto peer = std::make_shared<Peer>();
    peer->listener = server::local_listener;
    Request request;
    request.method = Method::delete_;
    request.method_text = "DELETE";
    request.path = path;
    request.peer = peer;
    return request;
}

struct RefusalSetup {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-audit-"};
    HangingFile file{directory.path() / "audit.log"};
    SystemClock clock;
    EventBus events{clock};
    server::AuditLog log{directory.path() / "audit.log"};
    server::AuditLog strangers{directory.path() / "audit.strangers.log"};
    server::Authenticator authenticator{server::TrustQuestions{}};
    RefusingService service;
    std::atomic<std::size_t> answered{0};
    std::promise<void> writes;  // the first refusal has left the queue
    std::unique_ptr<EventBus::Handle> first =
        events.subscribe({EventType::audit}, [this](const Event&) { return writes.set_value(), false; });
    server::AuditedRequests audited{{service, authenticator, events, log, strangers, clock, 3}};

    ~RefusalSetup() { file.let_go(); }

    void refuse(const std::string& path) {
        const Request request = request_of_admin(path);
        Response response = audited.fault(&request, Error(ErrorCode::not_found, "not found"));
        REQUIRE(response.later);
        response.later([this](Response reply) { answered += reply.status == 404 ? 1 : 0; });
    }
};

}  // namespace

TEST_CASE_METHOD(RefusalSetup, "no more refusals wait for the audit's file than may, and all have a reply") {
    refuse("/0");
    REQUIRE(writes.get_future().wait_for(long_wait) == std::future_status::ready);
    for (const char* path : {"/1", "/2", "/3"}) refuse(path);
    CHECK(answered == 0);
    for (int i = 0; i < 5; ++i) refuse("/one too many");
    CHECK(answered == 5);
    const std::vector<Json> lines = file.lines(4);
    for (std::size_t i = 0; i <= 3; ++i) CHECK(lines[i].at("path") == Json("/" + std::to_string(i)));
    eventually("all are answered", [&] { return answered == 9; });
    CHECK(Json::parse(read_file(directory.path() / "audit.strangers.log")).at("count") == Json(5));
}

TEST_CASE("clients are served while the audit's file takes no line") {
    TestDaemon daemon;
    WebSocketClient events(daemon.local_target(), "/1.0/events?type=audit");
    std::vector<std::future<int>> refused;  // ends after `file`
    HangingFile file(daemon.options().state_dir / "audit.log");
    for (int i = 0; i < 6; ++i)
        refused.push_back(std::async(std::launch::async, [target = daemon.local_target()] {
            return ApiCaller(target).post("/1.0/nothing", Json::object()).status;
        }));
    REQUIRE(events.receive(long_wait));
    for (int i = 0; i < 8; ++i) CHECK(ApiCaller(daemon.local_target()).get("/1.0").status == 200);
    CHECK(file.lines(6).size() == 6);
    for (auto& status : refused) CHECK(status.get() == 404);
}

}  // namespace svc::test
