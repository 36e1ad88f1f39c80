#pragma once
// One stream of an exec session (standard input, output, errors, control) and the WebSocket that carries it.
#include <cstddef>
#include <memory>
#include <string>

namespace svc {

class ExecSession;

// The WebSocket of a stream, as the session sees it. Thread-safe.
class ExecChannel {
  public:
    virtual ~ExecChannel() = default;
    virtual bool send(std::string data) = 0;       // binary; false when the connection is gone
    virtual bool send_end() = 0;                   // the end-of-stream mark: an empty text message
    virtual std::size_t queued_bytes() const = 0;  // output stops being read above 1 MiB
    virtual void pause() = 0;                      // stop taking input
    virtual void resume() = 0;
    virtual void close() = 0;  // normal end, after what is queued
};

// How the WebSocket of a stream ended.
enum class ExecEnd {
    normal,  // with a close frame
    cut,     // the connection ended without one, behind a whole message
    fault,   // within a message, in silence, or by a fault of the client
};

// A stream of a session, as the front-end that owns its WebSocket sees it: reserved from
// ExecService::connect() on, connected by attach(). One that is destroyed without having been attached may be
// connected again. Keeps its session alive. Thread-safe; never blocks.
class ExecStream {
  public:
    ExecStream(std::shared_ptr<ExecSession> session, std::string name);
    ~ExecStream();
    ExecStream(const ExecStream&) = delete;
    ExecStream& operator=(const ExecStream&) = delete;

    void attach(std::shared_ptr<ExecChannel> channel);  // once, when the WebSocket is open
    void data(std::string bytes);                       // binary message
    void text(const std::string& message);              // control message; "" on a data stream: end of input
    void drained();                                     // the channel's queue is empty again
    void closed(ExecEnd end);                           // the last call

  private:
    std::shared_ptr<ExecSession> session_;
    std::string name_;
};

}  // namespace svc
