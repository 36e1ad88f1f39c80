#pragma once
// A server with TLS that plays the gateway's end of one media socket, and the client behind it.
#include <condition_variable>
#include <deque>
#include <mutex>

#include "instance-agent/streamer/client/gateway_link.h"
#include "libsvc/net/websocket/websocket.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

struct MediaMessage {
    bool binary = false;
    std::string bytes;
    int flags() const { return bytes.at(0); }
    std::string content() const { return bytes.substr(9); }
};

class PlayedMedia {
  public:
    PlayedMedia();
    streamer::GatewayAddress address() const;
    void send(const std::string& text);  // once the instance has connected
    void send_binary(const std::string& bytes);
    MediaMessage next();  // the oldest one not told yet; throws after a minute
    void stop_reading();  // after the next binary message
    void read_again();

  private:
    class Handler;
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::deque<MediaMessage> messages;
        std::shared_ptr<WebSocket> socket;
        bool stops = false;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
    TestServer server_;
};

}  // namespace svc::test
