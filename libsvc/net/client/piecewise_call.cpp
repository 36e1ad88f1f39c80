#include "libsvc/net/client/piecewise_call.h"

#include <poll.h>

#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/client/client_channel.h"
#include "libsvc/net/client/direct_call.h"
#include "libsvc/net/http/http_parser.h"
#include "libsvc/net/http/message_text.h"

namespace svc {

namespace {

using Instant = std::chrono::steady_clock::time_point;

constexpr std::chrono::seconds keep_for{30};  // our servers keep them 75 s
constexpr std::size_t most_kept = 16;

}  // namespace

class PiecewiseCall::Connection {
  public:
    Connection(const Target& target, std::chrono::milliseconds timeout) : channel(target, timeout) {}
    // Nothing was sent to it: whatever it says now is its end.
    bool is_fresh(Instant now) const {
        pollfd readable{channel.descriptor(), POLLIN, 0};
        return now - used < keep_for && ::poll(&readable, 1, 0) == 0;
    }
    net::ClientChannel channel;
    net::InputBuffer in;
    Instant used{};
};

struct PiecewiseCall::State {
    State(std::unique_ptr<Connection> given, ClientRequest asked, Keep taker)
        : connection(std::move(given)),
          request(std::move(asked)),
          keep(std::move(taker)),
          parser(request.method == Method::head) {}
    std::unique_ptr<Connection> connection;  // null at the end
    ClientRequest request;
    Keep keep;
    net::ReplyParser parser;
    ClientReply reply;
    bool has_reply = false;
};

PiecewiseCall::PiecewiseCall(std::unique_ptr<Connection> connection, ClientRequest request, Keep keep)
    : state_(std::make_unique<State>(std::move(connection), std::move(request), std::move(keep))) {}

PiecewiseCall::~PiecewiseCall() = default;

void PiecewiseCall::send_head() {
    net::ClientChannel& channel = state_->connection->channel;
    const std::string head = net::request_head(channel, state_->request);
    channel.write(state_->request.source ? head : head + state_->request.body, state_->request.timeout);
}

void PiecewiseCall::send_piece(std::string_view piece) {
    if (piece.empty()) return;
    net::ClientChannel& channel = state_->connection->channel;
    if (state_->request.length)
        channel.write(piece, state_->request.timeout);
    else
        channel.write(net::as_chunk(piece), state_->request.timeout);
}

void PiecewiseCall::end_body() {
    if (!state_->request.length)
        state_->connection->channel.write(net::as_chunk(""), state_->request.timeout);
}

// "100 Continue" alone is no answer.
bool PiecewiseCall::answered() const {
    Connection& connection = *state_->connection;
    std::array<char, 4096> buffer;
    const auto count = connection.channel.read(buffer.data(), buffer.size(), std::chrono::milliseconds(0));
    if (count) connection.in.append(buffer.data(), *count);
    if (count && *count == 0) return true;
    const std::string_view said = connection.in.view();
    return !said.empty() && !said.starts_with("HTTP/1.1 100");
}

// False when nothing came for so long.
bool PiecewiseCall::receive(std::chrono::milliseconds limit) {
    std::array<char, 16U << 10U> buffer;
    Connection& connection = *state_->connection;
    const auto count = connection.channel.read(buffer.data(), buffer.size(), limit);
    if (!count) return false;
    if (*count == 0)
        state_->parser.end_of_stream();
    else
        connection.in.append(buffer.data(), *count);
    if (*count == 0 && !state_->parser.complete())
        throw Error(ErrorCode::unavailable, connection.channel.target().describe() + " broke off its reply");
    return true;
}

const ClientReply& PiecewiseCall::reply(const std::function<bool()>& go_on) {
    if (state_->has_reply) return state_->reply;
    while (!state_->parser.take_header(state_->connection->in))
        if (!receive(std::chrono::seconds(1)) && !go_on())
            throw Error(ErrorCode::unavailable,
                        state_->connection->channel.target().describe() + " does not answer");
    state_->reply = state_->parser.reply();
    state_->has_reply = true;
    return state_->reply;
}

std::string PiecewiseCall::read(std::size_t at_most) {
    std::string piece;
    while (state_->connection && !state_->parser.complete()) {
        piece.resize(std::min<std::size_t>(at_most, 256U << 10U));
        piece.resize(state_->parser.take_body(state_->connection->in, piece.data(), piece.size()));
        if (!piece.empty()) return piece;
        if (!state_->parser.complete() && !receive(state_->request.timeout))
            throw Error(ErrorCode::unavailable,
                        state_->connection->channel.target().describe() + " sends no more");
    }
    end();
    return {};
}

void PiecewiseCall::end() {
    if (!state_->connection) return;
    const std::string* const said = state_->reply.headers.find("Connection");
    const bool closes = said != nullptr && iequals(*said, "close");
    if (!closes && state_->connection->in.empty()) state_->keep(std::move(state_->connection));
    state_->connection.reset();
}

class PiecewiseClient::Pool {
  public:
    using Connection = PiecewiseCall::Connection;
    // Null when none is idle.
    std::unique_ptr<Connection> take() {
        std::lock_guard lock(mutex_);
        while (!idle_.empty()) {
            auto connection = std::move(idle_.back());
            idle_.pop_back();
            if (connection->is_fresh(std::chrono::steady_clock::now())) return connection;
        }
        return nullptr;
    }
    void give_back(std::unique_ptr<Connection> connection) {
        connection->used = std::chrono::steady_clock::now();
        std::lock_guard lock(mutex_);
        if (idle_.size() < most_kept) idle_.push_back(std::move(connection));
    }

  private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

PiecewiseClient::PiecewiseClient(Target target)
    : target_(std::move(target)), pool_(std::make_shared<Pool>()) {}

PiecewiseClient::~PiecewiseClient() = default;

std::unique_ptr<PiecewiseCall> PiecewiseClient::begin(ClientRequest request,
                                                      std::chrono::milliseconds limit) {
    request.headers.set("Connection", "keep-alive");
    auto connection = pool_->take();
    if (!connection) connection = std::make_unique<PiecewiseCall::Connection>(target_, limit);
    return std::make_unique<PiecewiseCall>(std::move(connection), std::move(request),
                                           [pool = pool_](std::unique_ptr<PiecewiseCall::Connection> idle) {
                                               pool->give_back(std::move(idle));
                                           });
}

}  // namespace svc
