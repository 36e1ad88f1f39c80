#include "libsvc/net/client/streamed_call.h"

#include <array>

#include "libsvc/base/error.h"
#include "libsvc/net/client/direct_call.h"
#include "libsvc/net/http/http_parser.h"

namespace svc {

class StreamedCall::State {
  public:
    State(Target target, const ClientRequest& request)
        : channel_(std::move(target), request.timeout), parser_(false) {
        channel_.write(net::request_head(channel_, request) + request.body, request.timeout);
        while (!parser_.take_header(in_))
            if (!receive(request.timeout)) fail("does not answer");
    }

    std::optional<std::string> read(std::chrono::milliseconds limit) {
        std::string piece(16U << 10U, '\0');
        for (;;) {
            piece.resize(parser_.take_body(in_, piece.data(), piece.size()));
            if (!piece.empty()) return piece;
            if (parser_.complete()) fail("ended its stream");
            if (!receive(limit)) return std::nullopt;
            piece.resize(16U << 10U);
        }
    }

    int status() const { return parser_.reply().status; }
    std::string header(std::string_view name) const { return std::string(parser_.reply().headers.get(name)); }
    bool complete() const { return parser_.complete(); }
    void interrupt() { channel_.interrupt(); }

  private:
    [[noreturn]] void fail(const char* how) const {
        throw Error(ErrorCode::unavailable, channel_.target().describe() + " " + how);
    }

    // False when nothing came for so long.
    bool receive(std::chrono::milliseconds limit) {
        std::array<char, 16U << 10U> buffer;
        const auto count = channel_.read(buffer.data(), buffer.size(), limit);
        if (!count) return false;
        if (*count == 0) fail("ended its stream");
        in_.append(buffer.data(), *count);
        return true;
    }

    net::ClientChannel channel_;
    net::InputBuffer in_;
    net::ReplyParser parser_;
};

StreamedCall::StreamedCall(Target target, const ClientRequest& request)
    : state_(std::make_unique<State>(std::move(target), request)) {}
StreamedCall::~StreamedCall() = default;
int StreamedCall::status() const {
    return state_->status();
}
std::string StreamedCall::header(std::string_view name) const {
    return state_->header(name);
}
std::optional<std::string> StreamedCall::read(std::chrono::milliseconds limit) {
    return state_->read(limit);
}
bool StreamedCall::complete() const {
    return state_->complete();
}
void StreamedCall::interrupt() {
    state_->interrupt();
}

}  // namespace svc
