#pragma once
// Internal to the folder net: parses HTTP/1.1 messages. Beast's parser does the work, inside http_parser.cpp,
// which also refuses malformed headers that Beast accepts.
#include <memory>

#include "libsvc/net/http/client_message.h"
#include "libsvc/net/socket/input_buffer.h"

namespace svc::net {

// One request. All throw invalid_argument for a malformed one.
class RequestParser {
  public:
    RequestParser(std::size_t header_bytes, std::size_t header_count);
    ~RequestParser();
    bool take_header(InputBuffer& in);  // false: more bytes are needed
    Request request() const;            // after the header, as is all below
    bool http_1_1() const;
    bool keep_alive() const;
    bool chunked() const;
    bool expects_continue() const;
    // The body: moves what it can from `in` to `out`; 0 when more bytes are needed or the body is complete.
    std::size_t take_body(InputBuffer& in, char* out, std::size_t room);
    bool complete() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// One response; interim ones (1xx except 101) are skipped. All throw unavailable for a malformed one.
class ReplyParser {
  public:
    explicit ReplyParser(bool to_head_request);
    ~ReplyParser();
    bool take_header(InputBuffer& in);
    ClientReply reply() const;  // without body
    std::size_t take_body(InputBuffer& in, char* out, std::size_t room);
    bool complete() const;
    void end_of_stream();  // the peer closed: throws when that cuts the message short

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace svc::net
