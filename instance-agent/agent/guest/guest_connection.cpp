#include "instance-agent/agent/guest/guest_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace svc::agent {
namespace {

constexpr std::size_t turn_bytes = 64U << 10;  // per turn of the loop, so that no session delays the others
constexpr std::size_t clogging_bytes = 256U << 10;

// A descriptor is sent with the first byte of its message.
ssize_t send_piece(int socket, std::string_view data, int descriptor) {
    iovec piece{const_cast<char*>(data.data()), data.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (descriptor >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string_view name_of(const Json& event) {
    const Json* name = event.find("event");
    return name != nullptr && name->is_string() ? std::string_view(name->as_string()) : "";
}

}  // namespace

GuestConnection::GuestConnection(std::shared_ptr<GuestShare> share, const GuestServerOptions& options,
                                 FileDescriptor socket, std::uint64_t id, GuestPeer peer)
    : hello_deadline(std::chrono::steady_clock::now() + options.hello_limit),
      share_(std::move(share)),
      id_(id),
      peer_(peer),
      queue_bytes_(options.queue_bytes),
      socket_(std::move(socket)),
      reader_(options.max_message),
      outbox_(options.queue_bytes) {}

GuestConnection::~GuestConnection() {
    close();
}

// Changes the outbox, counts its bytes and wakes the server's thread unless it was woken already.
template <class Put>
auto GuestConnection::put(Put&& put) {
    bool wake = false;
    const auto result = [&] {
        std::lock_guard lock(mutex_);
        const std::size_t before = outbox_.bytes();
        const auto result = put(outbox_);
        share_->account(before, outbox_.bytes());
        wake = (overrun_ || !outbox_.empty()) && !std::exchange(woken_, true);
        return result;
    }();
    if (wake) share_->wake(id_);
    return result;
}

void GuestConnection::send_event(const Json& event) {
    send_event_text(name_of(event), event.dump());
}

void GuestConnection::send_event_text(std::string_view name, const std::string& text) {
    if (!open_) return;
    std::string message = pack(MessageKind::json, 0, text);
    const std::size_t dropped = put([&](Outbox& outbox) -> std::size_t {
        if (!open_) return 0;
        if (!share_->has_room(message.size())) return 1;
        return outbox.put_event(std::move(message), name);
    });
    share_->dropped_events.add(dropped);
}

bool GuestConnection::send_frame(std::uint16_t stream, std::string_view header) {
    if (!open_) return false;
    std::string message = pack(MessageKind::frame, stream, header);
    const bool queued = put([&](Outbox& outbox) {
        return open_ && share_->has_room(message.size()) && outbox.put_frame(std::move(message));
    });
    if (!queued) share_->dropped_frames.add();
    return queued;
}

bool GuestConnection::receive() {
    std::array<char, turn_bytes> scratch;  // not thread_local: each thread of the agent would have one
    const ssize_t count = recv(socket_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    const auto size = static_cast<std::size_t>(count);
    if (reader_.buffered() > turn_bytes && !share_->has_room(size)) return false;
    reader_.feed(std::string_view(scratch.data(), size));
    account_input();
    return true;
}

void GuestConnection::account_input() {
    share_->account(std::exchange(counted_input_, reader_.buffered()), reader_.buffered());
}

std::optional<GuestMessage> GuestConnection::next_message() {
    auto message = reader_.next();
    account_input();
    return message;
}

std::uint64_t GuestConnection::mark() const {
    std::lock_guard lock(mutex_);
    return outbox_.mark();
}

void GuestConnection::answer(const Json& answer, FileDescriptor descriptor, std::uint64_t mark) {
    std::string message = pack(MessageKind::json, 0, answer.dump());
    put([&](Outbox& outbox) {
        if (!open_) return false;
        overrun_ = overrun_ || outbox.answer_bytes() + message.size() > queue_bytes_ + message_header_bytes;
        if (!overrun_) outbox.put_answer(std::move(message), std::move(descriptor), mark);
        return true;
    });
}

void GuestConnection::send_answer(const Json& answer) {
    this->answer(answer, {}, mark());
}

bool GuestConnection::flush() {
    std::lock_guard lock(mutex_);
    woken_ = false;
    const std::size_t before = outbox_.bytes();
    bool alive = !overrun_;
    std::size_t sent = 0;
    while (alive && !outbox_.empty() && sent < turn_bytes) {
        const ssize_t count = send_piece(socket_.get(), outbox_.front(), outbox_.front_descriptor());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            alive = errno == EAGAIN;
            break;
        }
        sent += static_cast<std::size_t>(count);
        outbox_.sent(static_cast<std::size_t>(count));
    }
    share_->account(before, outbox_.bytes());
    return alive;
}

bool GuestConnection::has_output() const {
    std::lock_guard lock(mutex_);
    return !outbox_.empty();
}

bool GuestConnection::is_clogged() const {
    std::lock_guard lock(mutex_);
    return outbox_.answer_bytes() > clogging_bytes;
}

void GuestConnection::close() {
    std::lock_guard lock(mutex_);
    if (!open_.exchange(false)) return;
    share_->account(outbox_.bytes() + counted_input_, 0);
    counted_input_ = 0;
    outbox_.clear();
    socket_.reset();
}

}  // namespace svc::agent
