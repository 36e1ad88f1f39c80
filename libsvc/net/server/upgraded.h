#pragma once
// Internal to this folder: moves the bytes of an upgraded connection between its stream and its session. No
// coroutine and no buffer stays behind while nothing happens: there are thousands of these, mostly idle.
#include "libsvc/net/server/connection.h"
#include "libsvc/net/server/session.h"

namespace svc::net {

// On the connection's I/O thread; keeps itself alive until the connection has ended.
class Upgraded : public std::enable_shared_from_this<Upgraded> {
  public:
    // `early` came in together with the request.
    static void start(std::shared_ptr<Connection> connection,
                      const std::shared_ptr<WebSocketHandler>& handler, std::string early);
    explicit Upgraded(std::shared_ptr<Connection> connection);
    ~Upgraded();
    Upgraded(const Upgraded&) = delete;
    Upgraded& operator=(const Upgraded&) = delete;
    // Moves what there is to move.
    void pump();

  private:
    SessionSettings settings();
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
    std::shared_ptr<Session> session_;
    std::shared_ptr<Upgraded> self_;  // until finish()
    bool wait_read_ = false, wait_write_ = false, timer_armed_ = false;
    bool lingering_ = false;
    bool deaf_ = false;     // the peer takes nothing any more; what it said before is still to be read
    bool in_turn_ = false;  // what the session says now is written at once
    std::size_t discarded_ = 0;
    Connection::Instant linger_until_;
};

}  // namespace svc::net
