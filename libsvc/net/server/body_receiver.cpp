#include "libsvc/net/server/body_receiver.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc::net {

using Steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t piece_size = 1U << 20;

// A piece of an upload. Its memory is not zeroed, so that pages that are never filled cost nothing.
struct Piece {
    Piece() : data(std::make_unique_for_overwrite<char[]>(piece_size)) {}
    std::string_view view() const { return std::string_view(data.get(), size); }

    std::unique_ptr<char[]> data;
    std::size_t size = 0;
};

// One of the uploads that the server receives at the same time (ServerLimits::uploads_at_once).
class UploadSlot {
  public:
    UploadSlot(ServerShare& share, const ConnectionSlot& slot) : share_(share) {
        taken_ = share_.uploads.fetch_add(1) < ServerShare::open_to(slot, share_.limits.uploads_at_once);
    }
    ~UploadSlot() { share_.uploads.fetch_sub(1); }
    UploadSlot(const UploadSlot&) = delete;
    UploadSlot& operator=(const UploadSlot&) = delete;
    bool taken() const { return taken_; }

  private:
    ServerShare& share_;
    bool taken_;
};

}  // namespace

void BodyReceiver::refuse_length() {
    if (x_.plan.max_body == 0) return x_.fail(ErrorCode::invalid_argument, "request must not have a body");
    x_.fail(ErrorCode::invalid_argument,
            "request body is longer than " + std::to_string(x_.plan.max_body) + " bytes");
}

BodyReceiver::Task<void> BodyReceiver::receive() {
    if (x_.plan.refusal && !x_.body_complete()) {
        x_.fault = x_.plan.refusal;
    } else if (x_.request.content_length.value_or(0) > x_.plan.max_body) {
        refuse_length();
    } else if (x_.plan.open_upload) {
        co_await receive_upload();
    } else if (!x_.body_complete()) {
        co_await receive_buffered();
    }
}

BodyReceiver::Task<void> BodyReceiver::send_continue() {
    const bool waits = x_.parser.expects_continue() && in_.empty() && !x_.body_complete();
    if (waits && !co_await connection_.send("HTTP/1.1 100 Continue\r\n\r\n")) x_.broken = true;
}

// Memory is taken for bytes that have come, whatever length the header tells.
BodyReceiver::Task<void> BodyReceiver::receive_buffered() {
    co_await send_continue();
    std::string& body = x_.request.body;
    while (!x_.broken && !x_.fault && !x_.body_complete()) {
        const std::size_t before = body.size();
        body.resize(before + std::min<std::uint64_t>(in_.view().size(), room_of_body()));
        body.resize(before + take_buffered(body.data() + before, body.size() - before));
        if (!connection_.slot().charge(body.size() + in_.view().size())) x_.fail_for_memory();
        if (x_.fault || x_.body_complete() || body.size() > before) continue;
        x_.broken = !co_await receive_more();
    }
    if (x_.fault) std::string().swap(body);
}

std::uint64_t BodyReceiver::room_of_body() const {
    return x_.request.content_length ? x_.body_left() : in_.view().size();
}

BodyReceiver::Task<bool> BodyReceiver::receive_more() {
    const auto begin = Steady::now();
    const std::size_t before = in_.view().size();
    const auto deadline = transfer_deadline_.deadline(begin);
    const bool any = co_await connection_.receive(in_, deadline);
    transfer_deadline_.waited(Steady::now() - begin);
    transfer_deadline_.moved(in_.view().size() - before);
    co_return any;
}

BodyReceiver::Task<void> BodyReceiver::receive_upload() {
    const UploadSlot slot(connection_.share(), connection_.slot());
    if (!slot.taken()) {
        x_.fail(ErrorCode::exhausted, "too many uploads at once");
        co_return;
    }
    std::shared_ptr<BodySink> sink;
    const auto open = [this, &sink] {
        sink = x_.plan.open_upload(x_.request);
        if (!sink) throw Error(ErrorCode::internal, "upload has no destination");
    };
    const auto task = PoolTask::start(pool(), connection_.shared_loop(), open);
    if (!task) {
        x_.fail(ErrorCode::exhausted, "server is too busy");
        co_return;
    }
    x_.fault = co_await task->join();
    if (!x_.fault) co_await send_continue();
    if (!x_.fault && !x_.broken) co_await feed_sink(sink);
    if (x_.fault || x_.broken)
        release_on_pool(pool(), std::move(sink));
    else
        x_.request.upload = std::move(sink);
}

// Writes one piece on the pool while the next one is received.
BodyReceiver::Task<void> BodyReceiver::feed_sink(std::shared_ptr<BodySink> sink) {
    Piece coming;
    Piece writing;
    std::shared_ptr<PoolTask> task;
    for (bool last = false; !last;) {
        coming.size = co_await fill(coming.data.get(), piece_size);
        last = x_.body_complete();
        if (task) {
            const auto error = co_await task->join();
            if (error) x_.fault = error;
        }
        if (x_.fault || x_.broken) co_return;
        std::swap(coming, writing);
        const auto write = [&writing, sink, last] {
            if (writing.size > 0) sink->write(writing.view());
            if (last) sink->finish();
        };
        task = co_await PoolTask::start_when_free(pool(), connection_, write);
        if (!task) {
            x_.fail(ErrorCode::exhausted, "server is too busy");
            co_return;
        }
    }
    x_.fault = co_await task->join();
}

// Fills `out` until it is full, or the body is complete, refused (x.fault) or cut off (x.broken).
BodyReceiver::Task<std::size_t> BodyReceiver::fill(char* out, std::size_t room) {
    std::size_t filled = 0;
    while (filled < room && !x_.body_complete() && !x_.fault) {
        const std::size_t taken = take_buffered(out + filled, room - filled);
        if (taken > 0) {
            filled += taken;
        } else if (x_.request.content_length) {
            const std::size_t wanted = std::min<std::uint64_t>(room - filled, x_.body_left());
            const auto begin = Steady::now();
            const auto deadline = transfer_deadline_.deadline(begin);
            const std::size_t got = co_await connection_.receive_into(out + filled, wanted, deadline);
            if (got == 0) break;
            transfer_deadline_.waited(Steady::now() - begin);
            transfer_deadline_.moved(got);
            filled += got;
            x_.received += got;
        } else if (!x_.body_complete() && !x_.fault) {
            if (!co_await receive_more()) break;
        }
    }
    x_.broken = filled < room && !x_.body_complete() && !x_.fault;
    co_return filled;
}

std::size_t BodyReceiver::take_buffered(char* out, std::size_t room) {
    if (in_.empty()) return 0;
    std::size_t taken = 0;
    if (x_.request.content_length) {
        taken = in_.view().copy(out, std::min<std::uint64_t>(room, x_.body_left()));
        in_.consume(taken);
    } else {
        try {
            taken = x_.parser.take_body(in_, out, room);
        } catch (const std::exception&) {
            x_.fault = std::current_exception();
            return 0;
        }
    }
    x_.received += taken;
    if (x_.received > x_.plan.max_body) refuse_length();
    return taken;
}

}  // namespace svc::net
