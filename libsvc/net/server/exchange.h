#pragma once
// Internal to this folder: one request of a connection, from its header to the last byte of its reply.
#include <exception>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/net/http/http_parser.h"
#include "libsvc/net/server/connection.h"

namespace svc::net {

// Used by the coroutine of its connection alone.
struct Exchange {
    explicit Exchange(const ServerLimits& limits) : parser(limits.header_bytes, limits.header_count) {}

    RequestParser parser;
    Request request;
    RequestPlan plan;
    Response response;
    std::exception_ptr fault;              // set: the service makes the reply of it
    bool planned = false;                  // the service has seen the request and is owed a done()
    bool broken = false;                   // the connection is lost: no reply can be sent
    bool keep = false;                     // the connection stays open after the reply
    bool upgrade = false;                  // the reply is 101
    std::uint64_t received = 0, sent = 0;  // bytes of the two bodies
    Connection::Instant begin = std::chrono::steady_clock::now();

    bool body_complete() const {
        return request.content_length ? received == *request.content_length : parser.complete();
    }
    ThreadPool& pool(ServerShare& share) const { return plan.pool ? *plan.pool : share.pool; }
    std::uint64_t body_left() const { return *request.content_length - received; }  // with a Content-Length
    void fail(ErrorCode code, const std::string& message) {
        fault = std::make_exception_ptr(Error(code, message));
    }
    void fail_for_memory() { fail(ErrorCode::exhausted, "too many requests are being received"); }
};

}  // namespace svc::net
