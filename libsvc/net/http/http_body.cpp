// HttpSession: taking in a request's body.
#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/net/server/http_session.h"

namespace svc::net {

using Steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t buffered_step = 64U << 10;
constexpr std::size_t piece_size = 1U << 20;

// A piece of an upload. Not zeroed, so that an unfilled one costs no memory.
struct Piece {
    Piece() : data(std::make_unique_for_overwrite<char[]>(piece_size)) {}
    std::string_view view() const { return std::string_view(data.get(), size); }

    std::unique_ptr<char[]> data;
    std::size_t size = 0;
};

// One of the uploads the server takes at a time.
class UploadSlot {
  public:
    explicit UploadSlot(ServerShare& share) : share_(share) {
        taken_ = share_.uploads.fetch_add(1) < share_.limits.uploads_at_once;
    }
    ~UploadSlot() { share_.uploads.fetch_sub(1); }
    UploadSlot(const UploadSlot&) = delete;
    UploadSlot& operator=(const UploadSlot&) = delete;
    bool taken() const { return taken_; }

  private:
    ServerShare& share_;
    bool taken_;
};

void refuse_length(Exchange& x) {
    x.fail(ErrorCode::invalid_argument,
           "request body is longer than " + std::to_string(x.plan.max_body) + " bytes");
}

}  // namespace

HttpSession::Task<void> HttpSession::receive_body(Exchange& x) {
    if (x.request.content_length.value_or(0) > x.plan.max_body) {
        refuse_length(x);
    } else if (x.plan.open_upload) {
        co_await receive_upload(x);
    } else if (!x.body_complete()) {
        co_await receive_buffered(x);
    }
}

HttpSession::Task<void> HttpSession::send_continue(Exchange& x) {
    const bool waits = x.parser.expects_continue() && in_.empty() && !x.body_complete();
    if (waits && !co_await connection_->send("HTTP/1.1 100 Continue\r\n\r\n")) x.broken = true;
}

HttpSession::Task<void> HttpSession::receive_buffered(Exchange& x) {
    co_await send_continue(x);
    std::string& body = x.request.body;
    while (!x.broken && !x.fault && !x.body_complete()) {
        const std::size_t before = body.size();
        const std::size_t room =
            x.request.content_length ? std::min<std::uint64_t>(x.body_left(), buffered_step) : buffered_step;
        body.resize(before + room);
        const std::size_t filled = co_await fill(x, body.data() + before, room);
        body.resize(before + filled);
    }
}

HttpSession::Task<void> HttpSession::receive_upload(Exchange& x) {
    const UploadSlot slot(share());
    if (!slot.taken()) {
        x.fail(ErrorCode::exhausted, "too many uploads at once");
        co_return;
    }
    std::shared_ptr<BodySink> sink;
    const auto open = [&x, &sink] {
        sink = x.plan.open_upload(x.request);
        if (!sink) throw Error(ErrorCode::internal, "upload has no destination");
    };
    const auto task = PoolTask::start(share().pool, connection_->shared_loop(), open);
    if (!task) {
        x.fail(ErrorCode::exhausted, "server is too busy");
        co_return;
    }
    x.fault = co_await task->join();
    if (!x.fault) co_await send_continue(x);
    if (!x.fault && !x.broken) co_await feed_sink(x, sink);
    if (x.fault || x.broken)
        release_on_pool(share().pool, std::move(sink));
    else
        x.request.upload = std::move(sink);
}

// One piece is written on the pool while the next one comes in.
HttpSession::Task<void> HttpSession::feed_sink(Exchange& x, std::shared_ptr<BodySink> sink) {
    Piece coming;
    Piece writing;
    std::shared_ptr<PoolTask> task;
    for (bool last = false; !last;) {
        coming.size = co_await fill(x, coming.data.get(), piece_size);
        last = x.body_complete();
        if (task) {
            const auto error = co_await task->join();
            if (error) x.fault = error;
        }
        if (x.fault || x.broken) co_return;
        std::swap(coming, writing);
        const auto write = [&writing, sink, last] {
            if (writing.size > 0) sink->write(writing.view());
            if (last) sink->finish();
        };
        task = co_await start_patiently(write);
        if (!task) {
            x.fail(ErrorCode::exhausted, "server is too busy");
            co_return;
        }
    }
    x.fault = co_await task->join();
}

// Fills `out` until it is full, the body ends, is refused (x.fault) or breaks off (x.broken).
HttpSession::Task<std::size_t> HttpSession::fill(Exchange& x, char* out, std::size_t room) {
    std::size_t filled = 0;
    while (filled < room && !x.body_complete() && !x.fault) {
        const auto deadline = Steady::now() + share().limits.body_idle_time;
        const std::size_t taken = take_buffered(x, out + filled, room - filled);
        if (taken > 0) {
            filled += taken;
        } else if (x.request.content_length) {
            const std::size_t wanted = std::min<std::uint64_t>(room - filled, x.body_left());
            const std::size_t got = co_await connection_->receive_into(out + filled, wanted, deadline);
            if (got == 0) break;
            filled += got;
            x.received += got;
        } else if (!x.body_complete() && !x.fault) {
            if (!co_await connection_->receive(in_, deadline)) break;
        }
    }
    x.broken = filled < room && !x.body_complete() && !x.fault;
    co_return filled;
}

std::size_t HttpSession::take_buffered(Exchange& x, char* out, std::size_t room) {
    if (in_.empty()) return 0;
    std::size_t taken = 0;
    if (x.request.content_length) {
        taken = in_.view().copy(out, std::min<std::uint64_t>(room, x.body_left()));
        in_.consume(taken);
    } else {
        try {
            taken = x.parser.take_body(in_, out, room);
        } catch (const std::exception&) {
            x.fault = std::current_exception();
            return 0;
        }
    }
    x.received += taken;
    if (x.received > x.plan.max_body) refuse_length(x);
    return taken;
}

}  // namespace svc::net
