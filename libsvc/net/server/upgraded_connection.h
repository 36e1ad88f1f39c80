#pragma once
// Internal to this folder: moves the bytes of an upgraded connection between its socket and its session. An
// idle one holds no coroutine and no buffer, because there are thousands of them.
#include "libsvc/net/server/connection.h"
#include "libsvc/net/websocket/upgraded_session.h"

namespace svc::net {

// Lives on the connection's I/O thread; keeps itself alive until the connection has ended.
class UpgradedConnection : public std::enable_shared_from_this<UpgradedConnection> {
  public:
    // `early`: bytes that came in behind the request.
    static void start(std::shared_ptr<Connection> connection,
                      const std::shared_ptr<WebSocketHandler>& handler, std::string early);
    explicit UpgradedConnection(std::shared_ptr<Connection> connection);
    ~UpgradedConnection();
    UpgradedConnection(const UpgradedConnection&) = delete;
    UpgradedConnection& operator=(const UpgradedConnection&) = delete;
    // Reads and writes all that is possible now.
    void pump();

  private:
    UpgradedSettings settings();
    template <class Work>
    void guard(Work&& work);
    void take_turn();
    void settle();
    void write();
    void read();
    void take_input(std::size_t bytes);
    void wait_for(IoState direction, bool& waiting);
    void pump_soon();
    void arm_timer();
    void on_timer();
    void start_lingering();
    void lose();
    void finish();

    std::shared_ptr<Connection> connection_;
    std::shared_ptr<UpgradedSession> session_;
    std::shared_ptr<UpgradedConnection> self_;  // until finish()
    bool wait_read_ = false, wait_write_ = false, timer_armed_ = false;
    bool lingering_ = false;
    bool deaf_ = false;     // the peer takes nothing any more; what it sent before is still to be read
    bool in_turn_ = false;  // pump() writes what the session says now
    std::size_t discarded_ = 0;
    Connection::Instant linger_until_;
};

}  // namespace svc::net
