#pragma once
// Internal to this folder: one accepted connection. Unix sockets, TCP and TLS differ in the ByteStream alone.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "libsvc/net/server/io_loop.h"
#include "libsvc/net/server/transfer_deadline.h"
#include "libsvc/net/socket/byte_stream.h"
#include "libsvc/net/socket/input_buffer.h"

namespace svc::net {

// Only its loop's thread uses it. One coroutine uses it at a time, and holds a shared_ptr while it does.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    using Milliseconds = std::chrono::milliseconds;
    using Instant = std::chrono::steady_clock::time_point;
    template <class T>
    using Task = boost::asio::awaitable<T>;

    Connection(std::shared_ptr<IoLoop> loop, std::shared_ptr<ServerShare> share,
               std::unique_ptr<ConnectionSlot> slot, FileDescriptor socket, std::shared_ptr<const Peer> peer,
               const TlsContext* tls);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // The TLS handshake, if any; puts the client's certificate into the peer. False: the connection is of no
    // use.
    Task<bool> handshake(Instant deadline);
    // Appends the bytes that have arrived; waits for some until `deadline`. False: end of the stream, failure
    // or timeout.
    Task<bool> receive(InputBuffer& in, Instant deadline);
    // The same into plain memory, returns the number of bytes; 0: end of the stream, failure or timeout.
    Task<std::size_t> receive_into(char* out, std::size_t room, Instant deadline);
    // True once the client has closed its direction of the connection; it may still wait for replies.
    bool half_closed() const { return half_closed_; }
    // After half_closed(): waits until the client has closed the other direction, or for interrupt().
    Task<void> await_loss();
    // Waits for interrupt(), or until both directions of the connection are closed. Reads nothing.
    Task<void> await_interrupt();
    Task<bool> send(std::string_view data, bool more_follows = false);
    // The pauses of the client in taking what is sent from now on are counted anew.
    void begin_reply() {
        reply_deadline_ = TransferDeadline(share_->limits.write_idle_time, share_->limits.min_rate);
    }
    // Makes a receive() that waits, and those that are called before resume(), return false.
    void interrupt();
    void resume() { interrupted_ = false; }
    // Closes our direction, then reads what the client still sends: closing with unread bytes would destroy
    // the reply on its way.
    Task<void> linger();
    Task<void> sleep(Milliseconds duration);

    enum class Activity {
        idle,
        receiving,
        answering,
        streaming
    };  // `streaming`: a response that may take for ever
    void set_activity(Activity activity) { activity_ = activity; }
    // True once the connection ends after the present response.
    bool ending() const { return ending_; }
    // Ends the connection: at once when it is idle, else after the response. `impatient`: only a response
    // that is not `streaming` may end first.
    void end(CloseCode code, std::string_view reason, bool impatient);
    void abort();
    // From now on end() and abort() call these functions of the session.
    void hand_over(std::function<void(CloseCode, std::string_view)> end, std::function<void()> abort);

    IoLoop& loop() { return *loop_; }
    const std::shared_ptr<IoLoop>& shared_loop() const { return loop_; }
    ServerShare& share() { return *share_; }
    const std::shared_ptr<const Peer>& peer() const { return peer_; }
    ConnectionSlot& slot() { return *slot_; }
    ByteStream& stream() { return *stream_; }
    boost::asio::posix::stream_descriptor& descriptor() { return descriptor_; }
    boost::asio::steady_timer& timer() { return timer_; }
    void close();
    bool closed() const { return !descriptor_.is_open(); }

  private:
    using Event = boost::asio::posix::stream_descriptor::wait_type;
    Task<bool> wait(Event event, Instant deadline);
    bool goes_on(IoState state);
    void set_deadline(Instant deadline);
    void arm_timer();
    void on_timer();
    void note_certificate();

    std::shared_ptr<IoLoop> loop_;
    std::shared_ptr<ServerShare> share_;
    std::unique_ptr<ConnectionSlot> slot_;
    std::shared_ptr<const Peer> peer_;
    std::uint64_t id_;
    boost::asio::posix::stream_descriptor descriptor_;
    boost::asio::steady_timer timer_;
    std::unique_ptr<ByteStream> stream_;
    TransferDeadline reply_deadline_;
    Instant deadline_ = Instant::max();
    bool timer_armed_ = false;
    bool timed_out_ = false;
    bool interrupted_ = false;
    bool half_closed_ = false;
    Activity activity_ = Activity::idle;
    bool ending_ = false;
    std::function<void(CloseCode, std::string_view)> session_end_;
    std::function<void()> session_abort_;
};

}  // namespace svc::net
