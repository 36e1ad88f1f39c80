#pragma once
// Exec: a command in an instance, its streams on WebSockets, its exit code in the operation (facts 3).
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/model/instances/instance.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

// One connected stream of an exec session as the front-end's WebSocket gives it. Thread-safe.
class ExecChannel {
  public:
    virtual ~ExecChannel() = default;
    virtual bool send(std::string data) = 0;       // binary; false when gone
    virtual bool send_end() = 0;                   // the end-of-stream mark: an empty text message
    virtual std::size_t queued_bytes() const = 0;  // output stops being read above 1 MiB
    virtual void pause() = 0;                      // stop taking input
    virtual void resume() = 0;
    virtual void close() = 0;  // normal end, after what is queued
};

// How the socket of a stream ended.
enum class ExecEnd {
    normal,  // with a close frame
    cut,     // the connection ended without one, behind a whole message
    fault,   // within a message, in silence, or by a fault of the client
};

// What a front-end tells the session of one channel. Thread-safe; never blocks.
class ExecStream {
  public:
    virtual ~ExecStream() = default;
    virtual void data(std::string bytes) = 0;    // binary message
    virtual void text(std::string message) = 0;  // control message; "" on a data stream: end of input
    virtual void drained() = 0;                  // the channel's queue is empty again
    virtual void closed(ExecEnd end) = 0;        // the last call
};

// Thread-safe. One thread per running command, none while waiting for the sockets. Stop the engine before
// this is destroyed; what still runs then is killed.
class ExecService {
  public:
    ExecService(Instances& instances, Runtime& runtime, Engine& engine, Clock& clock, IdSource& ids);
    ~ExecService();
    // Answers the operation with metadata.fds. The command starts when all data streams are connected, at
    // most 10 s later.
    Started start(std::string_view id, const ExecRequest& request, PathWord word, std::string requestor);
    // Connects the stream that `secret` names. Throws unauthenticated "missing secret", forbidden for a wrong
    // one, not_found, invalid_argument for a second connection, an operation that is no exec or not running.
    // connect() only checks and reserves; attach() hands over the channel once the WebSocket is open. A
    // stream that is destroyed without having been attached may be connected again.
    std::shared_ptr<ExecStream> connect(std::string_view operation_id, std::string_view secret);
    void attach(const std::shared_ptr<ExecStream>& stream, std::shared_ptr<ExecChannel> channel);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
