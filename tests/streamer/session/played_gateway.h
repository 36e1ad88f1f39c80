#pragma once
// A server with TLS that plays the gateway's end of a master socket.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "instance-agent/streamer/client/gateway_link.h"
#include "libsvc/base/json.h"
#include "libsvc/net/websocket/websocket.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

class PlayedGateway {
  public:
    PlayedGateway();
    streamer::GatewayAddress address() const;
    std::string url() const;
    std::string fingerprint() const { return server_.tls_target().server_fingerprint; }
    static constexpr const char* name = "instances.internal";  // whom instances may ask for
    std::string named_fingerprint() const { return server_.tls_target(name).server_fingerprint; }
    // Called with each message that comes, on a thread of the server.
    void on_message(std::function<void(const Json&)> listener);

    void send(const std::string& text);   // to the newest connection
    void drop();                          // ends it
    std::vector<std::string> received();  // of all connections
    // Waits for a message of this type, a minute at most, and takes it out with what came before.
    Json await(const std::string& type);
    int connections();      // that are open
    int all_connections();  // that there have been
    std::string path();
    std::string query_token();

  private:
    class Handler;
    struct State {
        std::mutex mutex;
        std::condition_variable heard;
        std::vector<std::string> received;
        std::shared_ptr<WebSocket> socket;
        int open = 0, all = 0;
        std::string path, token;
        std::function<void(const Json&)> listener;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
    std::size_t awaited_ = 0;
    TestServer server_;
};

}  // namespace svc::test
