#include "libsvc/net/websocket/websocket_frames.h"

#include <openssl/rand.h>
#include <wslay/wslay.h>

#include <new>
#include <utility>

#include "libsvc/base/error.h"

namespace svc::net {

namespace {

constexpr std::size_t max_reason = 123 - 2;  // wslay refuses 123 together with the code

ssize_t append_callback(const std::uint8_t* data, std::size_t size, int, void* user) {
    static_cast<std::string*>(user)->append(reinterpret_cast<const char*>(data), size);
    return static_cast<ssize_t>(size);
}

int mask_callback(std::uint8_t* out, std::size_t size, void*) {
    return RAND_bytes(out, static_cast<int>(size)) == 1 ? 0 : -1;
}

// wslay's frame writer. Between whole frames it keeps where to write, and that it has once masked: then it
// masks every frame, also one whose header says that it is not. So each side needs one of its own.
class FrameWriter {
  public:
    FrameWriter() {
        wslay_frame_callbacks callbacks{};
        callbacks.send_callback = append_callback;
        callbacks.genmask_callback = mask_callback;
        if (wslay_frame_context_init(&context_, &callbacks, &buffer_) != 0) throw std::bad_alloc();
    }
    ~FrameWriter() { wslay_frame_context_free(context_); }
    FrameWriter(const FrameWriter&) = delete;
    FrameWriter& operator=(const FrameWriter&) = delete;

    void append(std::string& out, FrameKind kind, std::string_view payload, bool masked) {
        wslay_frame_iocb frame{};
        frame.fin = 1;
        frame.opcode = static_cast<std::uint8_t>(kind);
        frame.mask = masked ? 1 : 0;
        frame.payload_length = payload.size();
        frame.data = reinterpret_cast<const std::uint8_t*>(payload.data());
        frame.data_length = payload.size();
        buffer_.swap(out);
        const ssize_t written = wslay_frame_send(context_, &frame);
        buffer_.swap(out);
        if (written != static_cast<ssize_t>(payload.size()))
            throw Error(ErrorCode::internal, "cannot encode websocket frame");
    }

  private:
    wslay_frame_context_ptr context_ = nullptr;
    std::string buffer_;
};

std::size_t encoded_size(std::uint64_t payload, bool masked) {
    const std::size_t length_bytes = payload > 65535 ? 8 : payload > 125 ? 2 : 0;
    return 2 + length_bytes + (masked ? 4 : 0) + payload;
}

// Cuts a text, not within a character.
std::string_view cut_utf8(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text;
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
    return text.substr(0, limit);
}

// wslay checks the reason of a close frame, but not where it ends, nor across the pieces in which it came.
bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text[0]);
        const std::size_t size = first < 0x80   ? 1
                                 : first < 0xc2 ? 0
                                 : first < 0xe0 ? 2
                                 : first < 0xf0 ? 3
                                 : first < 0xf5 ? 4
                                                : 0;
        if (size == 0 || size > text.size()) return false;
        std::uint32_t value = first & (size == 1 ? 0x7fU : 0xffU >> (size + 1));
        for (std::size_t i = 1; i < size; ++i) {
            const auto next = static_cast<unsigned char>(text[i]);
            if ((next & 0xc0U) != 0x80) return false;
            value = value << 6 | (next & 0x3fU);
        }
        const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
        if (overlong || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return false;
        text.remove_prefix(size);
    }
    return true;
}

}  // namespace

void append_frame(std::string& out, FrameKind kind, std::string_view payload, bool masked) {
    thread_local FrameWriter plain_writer;
    thread_local FrameWriter masking_writer;
    (masked ? masking_writer : plain_writer).append(out, kind, payload, masked);
}

void append_close(std::string& out, std::uint16_t code, std::string_view reason, bool masked) {
    std::string payload;
    payload += static_cast<char>(code >> 8);
    payload += static_cast<char>(code & 0xff);
    payload += cut_utf8(reason, max_reason);
    append_frame(out, FrameKind::close, payload, masked);
}

struct FrameReader::Callbacks {
    static FrameReader& self(void* user) { return *static_cast<FrameReader*>(user); }

    static ssize_t receive(wslay_event_context_ptr context, std::uint8_t* out, std::size_t size, int,
                           void* user) {
        auto& input = self(user).input_;
        if (input.empty()) {
            wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK);
            return -1;
        }
        const std::size_t count = input.copy(reinterpret_cast<char*>(out), size);
        input.remove_prefix(count);
        return static_cast<ssize_t>(count);
    }

    static ssize_t send(wslay_event_context_ptr, const std::uint8_t* data, std::size_t size, int,
                        void* user) {
        return append_callback(data, size, 0, &self(user).answers_);
    }

    static int mask(wslay_event_context_ptr, std::uint8_t* out, std::size_t size, void* user) {
        return mask_callback(out, size, user);
    }

    static void frame_begins(wslay_event_context_ptr, const wslay_event_on_frame_recv_start_arg* frame,
                             void* user) {
        FrameReader& reader = self(user);
        const bool from_client = !reader.masked_output_;
        reader.accounted_ += encoded_size(frame->payload_length, from_client);
        reader.in_frame_ = true;
        if (!wslay_is_ctrl_frame(frame->opcode)) reader.in_message_ = frame->fin == 0;
        reader.in_close_ = frame->opcode == WSLAY_CONNECTION_CLOSE;
    }

    static void frame_chunk(wslay_event_context_ptr, const wslay_event_on_frame_recv_chunk_arg* chunk,
                            void* user) {
        FrameReader& reader = self(user);
        if (!reader.in_close_) return;
        reader.close_payload_.append(reinterpret_cast<const char*>(chunk->data), chunk->data_length);
    }

    static void frame_ends(wslay_event_context_ptr, void* user) { self(user).in_frame_ = false; }

    static void message(wslay_event_context_ptr, const wslay_event_on_msg_recv_arg* message, void* user) {
        FrameReader& reader = self(user);
        std::string data(reinterpret_cast<const char*>(message->msg), message->msg_length);
        if (message->opcode == WSLAY_CONNECTION_CLOSE) {
            Close close;
            close.code = message->status_code != 0 ? message->status_code
                                                   : static_cast<std::uint16_t>(WSLAY_CODE_NO_STATUS_RCVD);
            close.reason = data.size() > 2 ? data.substr(2) : std::string();
            close.by_peer = true;
            if (!is_utf8(close.reason))
                close = {WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA, "websocket protocol violated", false};
            reader.closed_ = std::move(close);
        } else if (!wslay_is_ctrl_frame(message->opcode)) {
            reader.deliver(message->opcode == WSLAY_BINARY_FRAME, std::move(data));
        }
    }
};

FrameReader::FrameReader(bool masked_output, std::size_t max_message, OnMessage on_message)
    : masked_output_(masked_output), on_message_(std::move(on_message)) {
    wslay_event_callbacks callbacks{};
    callbacks.recv_callback = Callbacks::receive;
    callbacks.send_callback = Callbacks::send;
    callbacks.genmask_callback = Callbacks::mask;
    callbacks.on_frame_recv_start_callback = Callbacks::frame_begins;
    callbacks.on_frame_recv_chunk_callback = Callbacks::frame_chunk;
    callbacks.on_frame_recv_end_callback = Callbacks::frame_ends;
    callbacks.on_msg_recv_callback = Callbacks::message;
    const int result = masked_output ? wslay_event_context_client_init(&context_, &callbacks, this)
                                     : wslay_event_context_server_init(&context_, &callbacks, this);
    if (result != 0) throw std::bad_alloc();
    wslay_event_config_set_max_recv_msg_length(context_, max_message);
}

FrameReader::~FrameReader() {
    wslay_event_context_free(context_);
}

// An exception of `on_message` must not pass through wslay.
void FrameReader::deliver(bool binary, std::string message) {
    if (error_) return;
    try {
        on_message_(binary, std::move(message));
    } catch (...) {
        error_ = std::current_exception();
        wslay_event_shutdown_read(context_);
    }
}

void FrameReader::feed(std::string_view data) {
    if (closed_) return;
    input_ = data;
    fed_ += data.size();
    const int result = wslay_event_recv(context_);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (result == 0) wslay_event_send(context_);  // only into answers_
    if (closed_ && !closed_->by_peer) {           // wslay has echoed what it should have refused
        answers_.clear();
        append_close(answers_, closed_->code, "", masked_output_);
    }
    if (result != 0 || (!closed_ && !wslay_event_get_read_enabled(context_))) note_end();
}

// wslay takes the codes 1012 to 1014 for a fault; IANA has registered them since RFC 6455.
bool FrameReader::accept_newer_code() {
    if (!in_close_ || close_payload_.size() < 2) return false;
    const auto code = static_cast<std::uint16_t>(static_cast<unsigned char>(close_payload_[0]) << 8 |
                                                 static_cast<unsigned char>(close_payload_[1]));
    if (code < 1012 || code > 1014) return false;
    Close close;
    close.code = code;
    close.reason = close_payload_.substr(2);
    close.by_peer = true;
    closed_ = std::move(close);
    answers_.clear();
    append_close(answers_, code, "", masked_output_);
    return true;
}

// The peer broke the protocol, and wslay has queued the close frame that says so.
void FrameReader::note_end() {
    if (closed_ || accept_newer_code()) return;
    Close close;
    close.code = wslay_event_get_close_sent(context_) ? wslay_event_get_status_code_sent(context_)
                                                      : static_cast<std::uint16_t>(WSLAY_CODE_PROTOCOL_ERROR);
    close.reason =
        close.code == WSLAY_CODE_MESSAGE_TOO_BIG ? "message is too big" : "websocket protocol violated";
    closed_ = std::move(close);
}

std::string FrameReader::take_answers() {
    return std::exchange(answers_, std::string());
}

bool FrameReader::is_idle() const {
    return !closed_ && !in_frame_ && !in_message_ && fed_ == accounted_;
}

}  // namespace svc::net
