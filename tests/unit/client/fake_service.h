#pragma once
// A service that says what a test wants: routes by path over a real server, and WebSockets that the test
// drives.
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/net/websocket/websocket.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

// One WebSocket as its server sees it. Thread-safe; what waits fails the test after a minute.
class FakeSocket : public WebSocketHandler {
  public:
    void on_open(std::shared_ptr<WebSocket> socket) override;
    void on_message(bool binary, std::string message) override;
    void on_close(std::uint16_t code, std::string_view reason) override;

    std::shared_ptr<WebSocket> socket();  // waits until it is open
    std::string next_message();           // waits for one; "close" at the end, text messages as "text:..."

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<WebSocket> socket_;
    std::vector<std::string> messages_;
};

// Thread-safe once started.
class FakeService {
  public:
    // Answers `path` with a sync envelope around what `metadata` makes; an Error it throws is an error
    // envelope. Server threads call it: no assertions in there.
    using Answer = std::function<Json(const Request&)>;
    void on(const std::string& path, Answer metadata);
    void refuse(const std::string& path, int status, const std::string& text);
    Request last_request();  // of those that on() answered; waits for none
    std::shared_ptr<FakeSocket> websocket(
        const std::string& path);  // for requests of this path, one after the other
    std::shared_ptr<FakeSocket> websocket(const std::string& path, const std::string& secret);
    void start() { server_.start(); }
    Target target() const { return server_.unix_target(); }

  private:
    void serve_secrets(const std::string& path);
    std::mutex mutex_;
    Request last_request_;
    std::map<std::string, std::shared_ptr<FakeSocket>> by_secret_;
    TestServer server_;  // last: its threads use the others
};

// An operation record of the least fields.
Json operation_record(int status_code, const std::string& err = "", Json metadata = nullptr);
inline constexpr const char* operation_id = "6bdc9f30-0e8e-4a42-9aab-3a8c13d6cf01";
inline const std::string operation_path = std::string("/1.0/operations/") + operation_id;

}  // namespace svc::test
