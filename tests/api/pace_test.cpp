// The pace of requests: who is delayed, for whose sake, and for how long.
#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/http/event_stream.h"
#include "server/http/middleware.h"
#include "server/http/pacer.h"
#include "server/http/response.h"
#include "tests/api/header.h"
#include "tests/support/eventually.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"
#include "tests/support/test_daemon.h"

namespace svc::server {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 60s;
constexpr std::size_t rate = 4;

struct PacerFixture {
    test::ManualClock clock;
    Pacer pacer{clock, rate};

    // The delay of the last of so many requests.
    Duration ask(const std::string& source, std::size_t count = 1) {
        Duration last{};
        for (std::size_t i = 0; i < count; ++i) last = pacer.delay(source);
        return last;
    }
};

std::string source(const std::string& address, const test::TestDaemon& daemon, Transport transport,
                   const Headers& headers = {}) {
    const SystemClock clock;
    const AgentTokens tokens(daemon.options().state_dir / "tokens.key", clock);
    auto peer = std::make_shared<Peer>();
    peer->transport = transport;
    peer->address = address;
    peer->uid = 7;
    Request request;
    request.peer = std::move(peer);
    request.headers = headers;
    return source_of(request, tokens);
}

// Tells when a request's delay has been decided.
class Watched final : public HttpService {
  public:
    explicit Watched(HttpService& service) : service_(service) {}
    RequestPlan plan(Request& request) override {
        RequestPlan plan = service_.plan(request);
        ++planned_;
        planned_.notify_all();
        return plan;
    }
    Response fault(const Request* request, const std::exception& error) override {
        return service_.fault(request, error);
    }
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override {
        service_.done(request, status, received, sent, duration);
    }
    void await(int count) const {
        for (int now = planned_; now < count; now = planned_) planned_.wait(now);
    }

  private:
    HttpService& service_;
    std::atomic<int> planned_{0};
};

// A middleware whose clock is turned by hand, behind TLS. GET /1.0 tells the time.
struct PacedServer {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-pace-"};
    test::ManualClock clock;
    const SteadyTime begin = clock.steady_now();
    test::SequenceIds ids;
    MetricsRegistry metrics;
    Authenticator authenticator{{[](const ClientCertificate& c) {
        return c.common_name == "friend" ? std::make_shared<const Certificate>() : nullptr;
    }}};
    AgentTokens tokens{directory.path() / "tokens.key", clock};
    EventBus bus{clock};
    ThreadPool workers{"request", 2, 100};
    Pacer pacer{clock, rate};
    Middleware middleware{{authenticator, tokens, metrics, ids, clock, workers, pacer, "host"},
                          {{Method::get, "/1.0", Access::everyone, Dispatch::on_io_thread, "service",
                            [this](Request&) { return text_of(clock.steady_now() - begin); }},
                           {Method::get, "/1.0/secret", Access::admin, Dispatch::on_pool, "service",
                            [](Request&) { return text_of({}); }},
                           {Method::get, "/1.0/echo", Access::everyone, Dispatch::on_pool, "service",
                            [this](Request&) { return event_stream(bus, {}, {}); }}},
                          {}};
    Watched watched{middleware};
    KeyPair identity = test::make_key_pair(directory.path(), "server");
    HttpServer server{watched, workers, ServerLimits()};
    Target target;

    PacedServer() {
        const auto tls = std::make_shared<TlsContext>(identity);
        target = Target::parse("https://" + server.listen_tcp(std::string(tls_listener), "127.0.0.1:0", tls));
        target.server_fingerprint = tls->fingerprint();
        server.start();
    }
    static Response text_of(Duration passed) {
        Response response;
        response.body = std::to_string(passed.count());
        return response;
    }
    test::ApiCaller friendly() const {
        Target friends = target;
        friends.identity = test::make_key_pair(directory.path(), "friend");
        return test::ApiCaller(friends);
    }
    // Turns the clock until `work` is done.
    template <class T>
    T finish(std::future<T> work) {
        test::eventually("the delayed request is answered", [&] {
            clock.advance(1ms);
            return work.wait_for(0s) == std::future_status::ready;
        });
        return work.get();
    }
};

}  // namespace

TEST_CASE_METHOD(PacerFixture, "requests beyond the rate are spread out") {
    CHECK(ask("a", rate) == Duration::zero());
    CHECK(ask("a") == 250ms);
    CHECK(ask("a") == 500ms);
    clock.advance(10s);
    CHECK(ask("a", rate) == Duration::zero());
    CHECK(ask("a") == 250ms);
}

TEST_CASE_METHOD(PacerFixture, "a source waits for its own requests alone") {
    CHECK(ask("a", rate * 10) > Duration::zero());
    CHECK(ask("b", rate) == Duration::zero());
    CHECK(ask("b") == 250ms);
}

TEST_CASE_METHOD(PacerFixture, "no request waits longer than a second") {
    CHECK(ask("a", 100'000) == Pacer::longest_delay);
    clock.advance(1s);
    CHECK(ask("a") == 250ms);
}

TEST_CASE_METHOD(PacerFixture, "sources that owe nothing are forgotten") {
    for (int i = 0; i < 100; ++i) ask(std::to_string(i), rate);
    CHECK(pacer.sources() == 100);
    clock.advance(1s);
    ask("a");
    CHECK(pacer.sources() == 1);
}

TEST_CASE_METHOD(PacerFixture, "so many sources are remembered and the one that asked last is among them") {
    for (std::size_t i = 0; i < 3 * Pacer::most_sources; ++i) ask(std::to_string(i), 2 * rate);
    CHECK(pacer.sources() == Pacer::most_sources);
    CHECK(ask(std::to_string(3 * Pacer::most_sources - 1)) == Pacer::longest_delay);
    CHECK(ask("new", rate) == Duration::zero());
}

TEST_CASE("a rate of zero delays nobody and remembers nobody") {
    const test::ManualClock clock;
    Pacer pacer(clock, 0);
    for (int i = 0; i < 10'000; ++i) CHECK(pacer.delay("a") == Duration::zero());
    CHECK(pacer.sources() == 0);
}

TEST_CASE_METHOD(PacerFixture, "what a source has sent elsewhere counts as if it had sent it here") {
    pacer.add("a", rate);
    CHECK(ask("a") == 250ms);
    CHECK(ask("b") == Duration::zero());
    pacer.add("b", 1'000'000);
    CHECK(ask("b") == Pacer::longest_delay);
    clock.advance(1s);
    CHECK(ask("b") == 250ms);
}

TEST_CASE("requests are told once and only of sources that send many") {
    const test::ManualClock clock;
    Pacer pacer(clock, 200, true);
    CHECK(pacer.take_counts().empty());
    pacer.delay("few");
    for (int i = 0; i < 3; ++i) pacer.delay("many");
    pacer.add("elsewhere", 50);
    CHECK(pacer.take_counts() == Pacer::Counts{{"many", 3}});
    CHECK(pacer.take_counts().empty());
    for (std::size_t i = 0; i < 2 * Pacer::most_sources; ++i)
        for (int request = 0; request < 2; ++request) pacer.delay(std::to_string(i));
    CHECK(pacer.take_counts().size() == Pacer::most_sources);
}

TEST_CASE("requests are counted to addresses networks and instances") {
    const test::TestDaemon daemon;
    CHECK(source("192.0.2.1", daemon, Transport::https) == "192.0.2.1");
    CHECK(source("2001:db8:1:2:3:4:5:6", daemon, Transport::https) == "2001:db8:1:2::/64");
    CHECK(source("2001:db8:1:2:ffff::1", daemon, Transport::https) == "2001:db8:1:2::/64");
    CHECK(source("2001:db8:1:3::1", daemon, Transport::https) == "2001:db8:1:3::/64");
    CHECK(source("fe80::1%lo", daemon, Transport::https) == "fe80::/64");
    CHECK(source("", daemon, Transport::unix_socket) == "uid=7");
    CHECK(source("", daemon, Transport::unix_socket, test::header("Authorization", "bearer forged")) ==
          "uid=7");
    CHECK(source("", daemon, Transport::unix_socket, test::header("Authorization", daemon.bearer("d4k"))) ==
          "instance=d4k");
}

TEST_CASE("trusted clients do not wait for a guest at the same address") {
    PacedServer paced;
    test::ApiCaller guest(paced.target);
    for (std::size_t i = 0; i < rate; ++i) CHECK(guest.get("/1.0").text == "0");
    auto delayed = std::async(std::launch::async, [&] { return guest.get("/1.0").text; });
    paced.watched.await(rate + 1);
    test::ApiCaller trusted = paced.friendly();
    for (std::size_t i = 0; i < 4 * rate; ++i) CHECK(trusted.get("/1.0").text == "0");
    CHECK(trusted.get("/1.0/secret").status == 200);
    CHECK(std::stoll(paced.finish(std::move(delayed))) >= Duration(250ms).count());
}

TEST_CASE("refusals and websockets are delayed too") {
    PacedServer paced;
    test::ApiCaller guest(paced.target);
    for (std::size_t i = 0; i < rate; ++i) CHECK(guest.get("/1.0/secret").status == 403);
    const SteadyTime begin = paced.clock.steady_now();
    SECTION("a refusal") {
        auto refused = std::async(std::launch::async, [&] { return guest.get("/1.0/secret").error(); });
        paced.watched.await(rate + 1);
        CHECK(paced.finish(std::move(refused)) == "Not Authorized");
    }
    SECTION("a websocket") {
        auto opened = std::async(std::launch::async, [&] {
            WebSocketClient(paced.target, "/1.0/echo").close();
            return true;
        });
        paced.watched.await(rate + 1);
        CHECK(paced.finish(std::move(opened)));
    }
    CHECK(paced.clock.steady_now() - begin >= 250ms);
}

TEST_CASE("requests that wait for their delay together take a bounded amount of memory") {
    PacedServer paced;
    const auto peer = std::make_shared<Peer>();
    peer->transport = Transport::https;
    peer->listener = std::string(tls_listener);
    peer->address = "192.0.2.1";
    std::vector<Response> waiting;
    std::atomic<int> answered{0};
    const auto send = [&] {
        Request request;
        request.peer = peer;
        request.method = Method::get;
        request.target = request.path = "/1.0";
        request.body = std::string(64U << 10, 'x');
        const RequestPlan plan = paced.middleware.plan(request);
        waiting.push_back(plan.handler(request));
        if (waiting.back().later) waiting.back().later([&](Response) { ++answered; });
    };
    const auto send_until_refused = [&] {
        for (std::size_t i = 0; i < 2 * DelayBudget::most_bytes / (64U << 10); ++i) send();
    };
    CHECK_THROWS_WITH(send_until_refused(), "server is too busy");
    CHECK(waiting.size() > DelayBudget::most_bytes / (64U << 10) / 2);
    const int delayed = static_cast<int>(waiting.size() - rate);
    waiting.clear();
    paced.clock.advance(2s);
    test::eventually("the delayed requests are answered", [&] { return answered == delayed; });
    paced.clock.advance(2s);
    test::eventually("their memory is free", [&] {
        try {
            send();
        } catch (const Error&) {
            return false;
        }
        return true;
    });
}

TEST_CASE("a daemon delays guests and instances and answers them like others") {
    test::TestDaemon daemon([](Options& options) { options.max_requests_per_second = 20; });
    test::ApiCaller guest(daemon.tls_target());
    for (int i = 0; i < 22; ++i) CHECK(guest.get("/1.0").status == 200);
    CHECK(guest.get("/1.0/images").error() == "Not Authorized");
    CHECK(guest.post("/1.0/certificates", Json::object({{"certificate", 3}})).status == 400);
    test::ApiCaller inside(daemon.agent_target());
    for (int i = 0; i < 22; ++i) CHECK(inside.get("/1.0/artifacts").error() == "missing token");
}

}  // namespace svc::server
