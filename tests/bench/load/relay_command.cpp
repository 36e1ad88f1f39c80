// svc-bench relay: the relay alone behind a TLS listener, and an echo beside it. Serves until its input ends.
#include <iostream>
#include <thread>

#include "libsvc/net/server/server.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/net/tls/x509.h"
#include "libsvc/streaming/relay/relay.h"
#include "tests/bench/load/commands.h"
#include "tests/support/deaf.h"

namespace svc::bench {

namespace {

class Echo final : public WebSocketHandler {
  public:
    void on_open(std::shared_ptr<WebSocket> socket) override { socket_ = std::move(socket); }
    void on_message(bool, std::string message) override { socket_->send_text(std::move(message)); }
    void on_close(std::uint16_t, std::string_view) override { socket_.reset(); }

  private:
    std::shared_ptr<WebSocket> socket_;
};

// /master?session=N, /slave?session=N and /echo.
class RelayService final : public HttpService {
  public:
    explicit RelayService(unsigned sessions) : relay_(clock_) {
        relay_.listen(deaf_);
        for (unsigned i = 0; i < sessions; ++i) relay_.open(std::to_string(i));
    }
    void tick() { relay_.tick(); }

    RequestPlan plan(Request&) override {
        RequestPlan plan;
        plan.dispatch = Dispatch::on_io_thread;
        plan.handler = [this](Request& request) {
            Response response;
            response.websocket = handler_of(request);
            return response;
        };
        return plan;
    }
    Response fault(const Request*, const std::exception& error) override {
        Response response;
        response.status = 400;
        response.body = error.what();
        return response;
    }
    void done(const Request&, int, std::uint64_t, std::uint64_t, std::chrono::nanoseconds) override {}

  private:
    std::shared_ptr<WebSocketHandler> handler_of(const Request& request) {
        const std::string session = request.query_value("session");
        if (request.path == "/echo") return std::make_shared<Echo>();
        if (request.path == "/master") return relay_.master(session);
        relay_.expect(session, RelayClient{"client", Json::array(), {}});
        return relay_.slave(session, "client");
    }

    SystemClock clock_;
    test::Deaf deaf_;
    Relay relay_;
};

}  // namespace

int relay_command(const Arguments& arguments) {
    const std::filesystem::path directory = arguments.text("directory");
    const KeyPair files{directory / "relay.crt", directory / "relay.key"};
    SystemClock clock;
    ensure_key_pair(files, "relay", {"localhost"}, {"127.0.0.1"}, clock);
    RelayService service(arguments.number("sessions", 1000));
    ThreadPool pool("relay", 1, 16);
    HttpServer server(service, pool, ServerLimits());
    const std::string address =
        server.listen_tcp("relay", "127.0.0.1:0", std::make_shared<TlsContext>(files));
    server.start();
    std::cout << Json::object({{"url", "https://" + address}}).dump() << std::endl;
    std::jthread ticks([&](std::stop_token stop) {
        while (clock.wait(stop, std::chrono::seconds(1))) service.tick();
    });
    std::cin.get();
    ticks = {};
    server.stop(std::chrono::milliseconds(0));
    return 0;
}

}  // namespace svc::bench
