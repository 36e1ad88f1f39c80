#pragma once
// The gateway inside the test's process: state in a temporary directory, a Unix socket there, TLS and metrics
// on free ports of the loopback, regions that the test plays. Link gateway_test_dep.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "server/gateway/gateway.h"
#include "tests/support/api_caller.h"
#include "tests/support/fake_management.h"
#include "tests/support/manual_clock.h"

namespace svc::test {

// One thread.
class TestGateway {
  public:
    // One region, "home", with the application "app". `change` adjusts the options before the start, and may
    // name other regions. Returns when every region that answers is known.
    explicit TestGateway(const std::function<void(gateway::Options&)>& change = {});

    ApiCaller local() const;                                  // the local socket
    ApiCaller caller() const { return ApiCaller(target()); }  // by TLS, pinned
    Target target() const;
    Target metrics_target() const;
    std::string token(const std::string& account, bool admin = false);  // of a new account
    // As an account asks.
    ApiReply call(Method method, const std::string& path, const std::string& token, const Json& body = {});
    // A new session as "201" gives it: its metadata.
    Json create(const std::string& token, const Json& body = Json::object({{"app", "app"}}));
    // Asks for the session until it has the status.
    Json await_status(const std::string& token, const std::string& id, const std::string& status);
    // What a WebSocket address leads to; throws what the gateway refuses it with.
    WebSocketClient open(const std::string& url) const;
    // The same as the instance with this user data: knows the gateway as they say. It may listen elsewhere by
    // now: `at`.
    WebSocketClient open_control(const Json& user_data, std::optional<Target> at = {}) const;

    void advance(Duration duration);  // the clock; returns when the regions have answered anew
    FakeManagement& region(const std::string& name = "home") { return regions_[name]; }
    ManualClock& clock() { return clock_; }
    gateway::Gateway& gateway() { return *gateway_; }
    const gateway::Options& options() const { return options_; }
    const std::filesystem::path& path() const { return directory_.path(); }
    void restart();  // the gateway alone: the regions go on
    void stop() { gateway_.reset(); }

  private:
    void start();
    void await_regions();
    std::string address(std::string_view beginning, std::string_view end) const;

    TemporaryDirectory directory_;
    gateway::Options options_;
    ManualClock clock_;
    std::map<std::string, FakeManagement> regions_;
    std::unique_ptr<gateway::Gateway> gateway_;
};

// The instance of a session, as its user data tells it to behave.
class ScriptedInstance {
  public:
    // Waits for the launch, then connects to its control_url and registers.
    ScriptedInstance(TestGateway& gateway, const std::string& session);
    Json receive();  // the next message; answers pings itself
    void send(const Json& message) { socket_->send_text(message.dump()); }
    const Json& user_data() const { return user_data_; }
    const std::string& control_url() const { return control_url_; }
    WebSocketClient& socket() { return *socket_; }

  private:
    Json user_data_;
    std::string control_url_;
    std::optional<WebSocketClient> socket_;
};

// Asks until it is true; throws after a minute.
void eventually(const std::string& what, const std::function<bool()>& question);
// The next text of a socket, as JSON; throws when there is none within a minute.
Json receive(WebSocketClient& socket);
// The next closing of a socket.
WebSocketMessage receive_close(WebSocketClient& socket);

}  // namespace svc::test
