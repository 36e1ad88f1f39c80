// Screenshots and recordings over real sockets, of a streamer that the test plays: it may be hostile.
#include <catch2/catch.hpp>
#include <future>

#include "libsvc/base/json.h"
#include "libsvc/model/instances/capture.h"
#include "libsvc/net/client/client.h"
#include "tests/api/metric_value.h"
#include "tests/support/eventually.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

using Send = std::function<bool(std::string_view)>;

std::string data(const std::string& bytes) {
    return capture_block(CaptureBlock::data, bytes);
}
const std::string whole = capture_block(CaptureBlock::whole, "");

struct CaptureWorld {
    // What the streamer does with a request; by default it sends a picture.
    std::function<void(const std::string& line, const Send& send)> streamer =
        [](const std::string& line, const Send& send) { send(data("\x89PNG ") + data(line) + whole); };
    std::promise<void> leave;  // lets a streamer that waits for it go
    TestDaemon daemon{[this](server::Options& options) {
        options.simulated.streamer = [this](const std::string& line, const Send& send) {
            streamer(line, send);
        };
    }};
    ApiCaller& api = daemon.api();
    std::string image = api.add_image("base", image_package());
    std::string id = api.launch("base", "instances");
    std::string url = "/1.0/instances/" + id;

    // The bytes of the answer; `broken` where it was broken off.
    struct Answer {
        int status = 0;
        std::string body, type;
        bool broken = false;
        bool is_whole() const { return status == 200 && !broken; }
    };
    Answer get(const std::string& path) const { return get(path, daemon.local_target()); }
    static Answer get(const std::string& path, const Target& target) {
        Answer answer;
        ClientRequest request;
        request.path = path;
        request.sink = [&](std::string_view bytes) { answer.body += bytes; };
        request.timeout = long_wait;
        try {
            const ClientReply reply = HttpClient(target).call(request);
            answer.status = reply.status;
            answer.type = reply.headers.get("Content-Type");
        } catch (const Error&) {
            answer.broken = true;
        }
        return answer;
    }
    double running() const {
        return value(ApiCaller(daemon.metrics_target()).get("/internal/1.0/metrics").text,
                     "svc_captures_running");
    }
    // The streamer holds its recording until the test lets it go.
    void hold() {
        streamer = [left = leave.get_future().share()](const std::string& line, const Send& send) {
            send(data("begin"));
            if (line.find("recording") != line.npos) left.wait();
            send(whole);
        };
    }
};

}  // namespace

TEST_CASE_METHOD(CaptureWorld, "a screenshot is a picture of what the streamer sends") {
    const KeyPair identity = make_key_pair(daemon.path(), "client");
    daemon.trust(identity);
    for (const Target& target : {daemon.local_target(), daemon.tls_target(identity)}) {
        const Answer answer = get(url + "/screenshot", target);
        CHECK(answer.status == 200);
        CHECK(answer.type == "image/png");
        CHECK(answer.body == "\x89PNG {\"take\":\"screenshot\"}");
    }
    CHECK(get(url + "/screenshot", daemon.tls_target()).status == 403);
    CHECK(api.get("/1.0/instances/absent/screenshot").error() == "container not found");
}

TEST_CASE_METHOD(CaptureWorld, "a recording has the length that was asked for, an hour at most") {
    CHECK(get(url + "/recording?duration=30").body == "\x89PNG {\"take\":\"recording\",\"seconds\":30}");
    CHECK(get(url + "/recording").body == "\x89PNG {\"take\":\"recording\",\"seconds\":3600}");
    CHECK(get(url + "/recording?duration=3600").type == "video/mp4");
    for (const char* wrong : {"0", "3601", "-1", "ten", "", "1.5", "1e3", "0x10", "%2B5", "%205", "5%00",
                              "5%3B", "99999999999999999999999", "18446744073709551617"}) {
        const ApiReply refused = api.get(url + "/recording?duration=" + wrong);
        CHECK(refused.status == 400);
        CHECK_THAT(refused.error(), Catch::Contains("argument duration is invalid"));
    }
    CHECK(get(url + "/recording", daemon.tls_target()).status == 403);
    CHECK(api.get("/1.0/instances/absent/recording").status == 404);
}

TEST_CASE_METHOD(CaptureWorld, "what a guest may have made is kept by nobody and opened as its type alone") {
    for (const auto& [path, name] :
         {std::pair("/screenshot", "screenshot.png"), std::pair("/recording", "recording.mp4")}) {
        const Headers headers = api.get(url + path).headers;
        CHECK(headers.get("X-Content-Type-Options") == "nosniff");
        CHECK(headers.get("Cache-Control") == "no-store");
        CHECK(headers.get("Content-Disposition") == "attachment; filename=\"" + std::string(name) + "\"");
    }
}

TEST_CASE_METHOD(CaptureWorld, "a path that names no instance, and another method, capture nothing") {
    std::atomic<int> asked = 0;
    streamer = [&](const std::string&, const Send& send) {
        ++asked;
        send(whole);
    };
    constexpr int bad = 400, absent = 404;
    for (const auto& [wrong, status] : {std::pair("..", absent),
                                        {"%2e%2e", absent},
                                        {"..%2f", absent},
                                        {"a%00", bad},
                                        {"%0a", absent},
                                        {"a%20b", absent}}) {
        INFO(wrong);
        CHECK(api.get("/1.0/instances/" + std::string(wrong) + "/screenshot").status == status);
    }
    CHECK(api.post(url + "/screenshot", {}).status == absent);
    CHECK(api.remove(url + "/recording").status == absent);
    CHECK(asked == 0);
}

TEST_CASE_METHOD(CaptureWorld,
                 "an instance is recorded once at a time, and screenshots are taken meanwhile") {
    hold();
    std::future<Answer> first = std::async(std::launch::async, [&] { return get(url + "/recording"); });
    REQUIRE(eventually([&] { return running() == 1; }));
    const ApiReply second = api.get(url + "/recording");
    CHECK(second.status == 409);
    CHECK(second.error() == "container " + id + " is being recorded already");
    CHECK(get(url + "/screenshot").body == "begin");
    leave.set_value();
    CHECK(first.get().body == "begin");
    CHECK(eventually([&] { return running() == 0; }));
    CHECK(get(url + "/recording").body == "begin");
}

TEST_CASE_METHOD(CaptureWorld, "an instance that is not up or is paused shows nothing") {
    api.succeed(api.patch(url, Json::object({{"desired_status", "paused"}})));
    CHECK(api.get(url + "/screenshot").error() ==
          "screenshot of container " + id + " not allowed: it is paused");
    CHECK(api.get(url + "/recording").error() ==
          "recording of container " + id + " not allowed: it is paused");
    api.succeed(api.patch(url, Json::object({{"desired_status", "stopped"}})));
    const ApiReply stopped = api.get(url + "/screenshot");
    CHECK(stopped.status == 400);
    CHECK(stopped.error() == "screenshot of container " + id + " not allowed: it is stopped");
}

TEST_CASE_METHOD(CaptureWorld, "what the streamer says of a failure reaches the client") {
    streamer = [](const std::string&, const Send& send) {
        send(capture_block(CaptureBlock::failed, "the guest has\ndrawn nothing"));
    };
    const ApiReply failed = api.get(url + "/screenshot");
    CHECK(failed.status == 500);
    CHECK(failed.error() == "container " + id + " cannot be captured: the guest hasdrawn nothing");
    streamer = [](const std::string&, const Send& send) {
        send(capture_block(CaptureBlock::busy, "it is being recorded already"));
    };
    CHECK(api.get(url + "/recording").status == 409);
}

TEST_CASE_METHOD(CaptureWorld, "a streamer that breaks off, lies or floods breaks the answer") {
    const std::string much(largest_capture_block, 'x');
    streamer = [](const std::string&, const Send& send) { send(data("half")); };
    CHECK(get(url + "/screenshot").broken);
    streamer = [](const std::string&, const Send& send) { send(data("half") + "nonsense"); };
    CHECK_FALSE(get(url + "/screenshot").is_whole());
    streamer = [](const std::string&, const Send& send) { send("HTTP/1.1 200 OK\r\n\r\n"); };
    CHECK(api.get(url + "/screenshot").status == 500);
    streamer = [&much](const std::string&, const Send& send) {
        while (send(data(much))) {
        }
    };
    const Answer flooded = get(url + "/screenshot");
    CHECK(flooded.broken);
    CHECK(flooded.body.size() <= 64U << 20);
}

TEST_CASE_METHOD(CaptureWorld, "a service that ends does not wait for a recording") {
    hold();
    std::future<Answer> recording = std::async(std::launch::async, [&] { return get(url + "/recording"); });
    REQUIRE(eventually([&] { return running() == 1; }));
    std::jthread ends([&] { daemon.stop(); });
    CHECK(recording.get().broken);
    leave.set_value();
}

TEST_CASE("an instance without a streamer does not stream") {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();
    api.add_image("base", image_package());
    const std::string id = api.launch("base", "instances");
    const ApiReply refused = api.get("/1.0/instances/" + id + "/screenshot");
    CHECK(refused.status == 400);
    CHECK(refused.error() == "container " + id + " does not stream: no streamer is ready in it");
}

}  // namespace svc::test
