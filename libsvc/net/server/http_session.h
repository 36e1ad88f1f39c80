#pragma once
// Internal to this folder: the requests and responses of one connection, one after the other.
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/net/http/http_parser.h"
#include "libsvc/net/server/connection.h"
#include "libsvc/net/server/later_reply.h"
#include "libsvc/net/server/pool_task.h"

namespace svc::net {

// One request on its way.
struct Exchange {
    explicit Exchange(const ServerLimits& limits) : parser(limits.header_bytes, limits.header_count) {}

    RequestParser parser;
    Request request;
    RequestPlan plan;
    Response response;
    std::exception_ptr fault;  // becomes the response
    bool planned = false;      // the service knows of it
    bool broken = false;       // nobody is left to answer
    bool keep = false;         // the connection, afterwards
    bool upgrade = false;
    std::uint64_t received = 0, sent = 0;  // of bodies
    Connection::Instant begin = std::chrono::steady_clock::now();

    bool body_complete() const;
    std::uint64_t body_left() const { return *request.content_length - received; }
    void fail(ErrorCode code, const std::string& message);
};

class HttpSession {
  public:
    template <class T>
    using Task = Connection::Task<T>;

    // Serves the connection until it ends or becomes a WebSocket.
    static Task<void> serve(std::shared_ptr<Connection> connection);

  private:
    explicit HttpSession(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

    Task<bool> exchange();
    Task<bool> await_request();
    Task<bool> answer(Exchange& x);

    // http_session.cpp
    Task<bool> receive_header(Exchange& x);
    bool parse_header(Exchange& x);
    void plan(Exchange& x);
    Task<void> run_handler(Exchange& x);
    Task<void> await_later(Exchange& x, std::shared_ptr<LaterReply> later);
    void finish(Exchange& x, int status);

    // http_body.cpp
    Task<void> receive_body(Exchange& x);
    Task<void> receive_buffered(Exchange& x);
    Task<void> receive_upload(Exchange& x);
    Task<void> feed_sink(Exchange& x, std::shared_ptr<BodySink> sink);
    Task<std::size_t> fill(Exchange& x, char* out, std::size_t room);
    std::size_t take_buffered(Exchange& x, char* out, std::size_t room);
    Task<void> send_continue(Exchange& x);

    // http_reply.cpp
    void prepare_reply(Exchange& x);
    void replace_by_fault(Exchange& x);
    void check_upgrade(Exchange& x);
    Task<bool> send_reply(Exchange& x);
    Task<bool> send_whole(Exchange& x);
    Task<bool> send_source(Exchange& x);
    Task<bool> send_pieces(Exchange& x, BodySource& source, bool chunked,
                           std::optional<std::uint64_t> length);

    // Runs `work` on the pool as soon as there is room; null when there is none for long.
    Task<std::shared_ptr<PoolTask>> start_patiently(PoolTask::Work work);
    ServerShare& share() { return connection_->share(); }

    std::shared_ptr<Connection> connection_;
    InputBuffer in_;
    unsigned served_ = 0;
};

}  // namespace svc::net
