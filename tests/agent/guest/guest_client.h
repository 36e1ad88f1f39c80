#pragma once
// A guest program of plain bytes, and a guest server with a device of the tests' own.
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "instance-agent/agent/guest/guest_server.h"
#include "instance-agent/agent/guest/message.h"
#include "tests/support/eventually.h"

namespace svc::test {

// For servers whose guests are not to be hurried: a slow machine may be slower than the usual limit.
inline constexpr std::chrono::minutes long_hello{1};

// Waits a minute at most for anything, then throws.
class GuestClient {
  public:
    explicit GuestClient(const std::filesystem::path& socket);

    bool send(std::string_view bytes);  // false: the connection is gone
    bool send_json(const std::string& text) { return send(agent::pack(agent::MessageKind::json, 0, text)); }
    struct Received {
        int kind = 0;  // 0: the connection has ended
        std::uint16_t stream = 0;
        std::string payload;
        FileDescriptor descriptor{};
    };
    Received receive();
    Json receive_json();  // fails the test when something else comes
    Json ask(const std::string& text);
    Json hello();
    bool greets();     // says hello; false when the connection ends instead
    bool is_closed();  // waits for the end; false when a message comes instead
    int descriptor() const { return fd_.get(); }

  private:
    bool fill(std::string& out, std::size_t size, FileDescriptor& descriptor);

    FileDescriptor fd_;
};

// Ops: test.echo, test.keep (keeps the session), test.fail, test.crash, test.burst (two events, then the
// answer), test.file (a descriptor), test.later (answers when late() is called).
class TestDevice {
  public:
    agent::GuestFeature feature();
    agent::GuestSessionPtr kept();
    int ended() const { return ended_; }
    std::vector<std::string> released();
    void late();

  private:
    std::mutex mutex_;
    agent::GuestSessionPtr kept_;
    Json late_id_;
    std::atomic<int> ended_{0};
    std::vector<std::string> released_;
};

class TestGuests {
  public:
    explicit TestGuests(agent::GuestServerOptions options = {});
    std::filesystem::path socket() const { return directory_.path() / "guest.unix"; }

  private:
    TemporaryDirectory directory_;

  public:
    MetricsRegistry metrics;
    TestDevice device;
    agent::GuestServer server;
};

// Polls; the test fails after a minute.

}  // namespace svc::test
