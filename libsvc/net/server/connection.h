#pragma once
// Internal to this folder: one accepted connection. Unix, TCP and TLS differ in its ByteStream alone.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "libsvc/net/server/io_loop.h"
#include "libsvc/net/socket/byte_stream.h"
#include "libsvc/net/socket/input_buffer.h"

namespace svc::net {

// Lives and dies on its loop's thread. One coroutine uses it at a time, and holds a shared_ptr while it does.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    using Milliseconds = std::chrono::milliseconds;
    using Instant = std::chrono::steady_clock::time_point;
    template <class T>
    using Task = boost::asio::awaitable<T>;

    // The caller has counted it in `share`; the destructor takes it off.
    Connection(std::shared_ptr<IoLoop> loop, std::shared_ptr<ServerShare> share, FileDescriptor socket,
               std::shared_ptr<const Peer> peer, const TlsContext* tls);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // TLS handshake, where there is one; the client's certificate goes into the peer. False: give up.
    Task<bool> handshake();
    // Appends what has come; waits until `deadline` when nothing has. False: end, failure or too late.
    Task<bool> receive(InputBuffer& in, Instant deadline);
    // The same into plain memory; 0: give up.
    Task<std::size_t> receive_into(char* out, std::size_t room, Instant deadline);
    // True once the client has said that it sends no more; it may still wait for what we have to say.
    bool half_closed() const { return half_closed_; }
    // After that: waits until the client is gone altogether, or interrupt().
    Task<void> await_loss();
    Task<bool> send(std::string_view data, bool more_follows = false);
    // Makes receive() give up, now or when it is called next, until resume().
    void interrupt();
    void resume() { interrupted_ = false; }
    // Says that no more comes, then takes in what the client still sends, so that it can read our last words.
    Task<void> linger();
    Task<void> sleep(Milliseconds duration);

    enum class Activity {
        idle,
        receiving,
        answering,
        streaming
    };  // `streaming`: a response whose end is not in sight
    void set_activity(Activity activity) { activity_ = activity; }
    // True once the connection is to end after the present response.
    bool ending() const { return ending_; }
    // Ends the connection: at once when it is idle, else after the response. `impatient` waits for what is
    // short only.
    void end(CloseCode code, std::string_view reason, bool impatient);
    void abort();
    // From now on end() and abort() go to the session.
    void hand_over(std::function<void(CloseCode, std::string_view)> end, std::function<void()> abort);

    IoLoop& loop() { return *loop_; }
    const std::shared_ptr<IoLoop>& shared_loop() const { return loop_; }
    ServerShare& share() { return *share_; }
    const std::shared_ptr<const Peer>& peer() const { return peer_; }
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
    std::shared_ptr<const Peer> peer_;
    std::uint64_t id_;
    boost::asio::posix::stream_descriptor descriptor_;
    boost::asio::steady_timer timer_;
    std::unique_ptr<ByteStream> stream_;
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
