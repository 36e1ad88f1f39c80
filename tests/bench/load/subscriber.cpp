#include "tests/bench/load/subscriber.h"

namespace svc::bench {

namespace {

constexpr unsigned char text_frame = 1, close_frame = 8, ping_frame = 9;

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = (value << 8U) | static_cast<unsigned char>(byte);
    return value;
}

// Length of a frame's header, and of what follows it; 0 while the header is not there whole.
struct FrameSize {
    std::size_t header = 0;
    std::uint64_t payload = 0;
};

FrameSize size_of(std::string_view data) {
    if (data.size() < 2) return {};
    const auto length = static_cast<unsigned char>(data[1]) & 0x7fU;
    const std::size_t header = length < 126 ? 2 : length == 126 ? 4 : 10;
    if (data.size() < header) return {};
    return {header, header == 2 ? length : big_endian(data.substr(2, header - 2))};
}

}  // namespace

Subscriber::Subscriber(const Endpoint& endpoint, const std::string& path)
    : stream_(endpoint),
      unsent_("GET " + path +
              " HTTP/1.1\r\nHost: svc\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n") {}

void Subscriber::shake() {
    const Progress progress = stream_.handshake();
    if (progress == Progress::ended) state_ = State::ended;
    if (progress == Progress::done) state_ = State::upgrading;
}

void Subscriber::send() {
    while (!unsent_.empty()) {
        const Moved moved = stream_.write(unsent_.data(), unsent_.size());
        if (moved.progress == Progress::ended) state_ = State::ended;
        if (moved.progress != Progress::done) return;
        unsent_.erase(0, moved.bytes);
    }
    unsent_.shrink_to_fit();
}

void Subscriber::advance(std::string& scratch, const OnText& on_text) {
    if (state_ == State::shaking) shake();
    if (state_ == State::upgrading || state_ == State::open) send();
    while (state_ == State::upgrading || state_ == State::open) {
        const Moved moved = stream_.read(scratch.data(), scratch.size());
        if (moved.progress == Progress::ended) state_ = State::ended;
        if (moved.progress != Progress::done) return;
        take(std::string_view(scratch).substr(0, moved.bytes), on_text);
    }
}

void Subscriber::take(std::string_view data, const OnText& on_text) {
    if (state_ == State::upgrading) {
        if (!reply_.feed(data)) return;
        state_ = reply_.status() == 101 ? State::open : State::ended;
    }
    if (partial_.empty()) {
        partial_ = take_frames(data, on_text);
        return;
    }
    partial_.append(data);
    const std::string joined = std::move(partial_);
    partial_ = take_frames(joined, on_text);
}

// What is left begins a frame that is not there whole.
std::string_view Subscriber::take_frames(std::string_view data, const OnText& on_text) {
    while (state_ == State::open) {
        const FrameSize size = size_of(data);
        if (size.header == 0 || data.size() < size.header + size.payload) break;
        const auto kind = static_cast<unsigned char>(static_cast<unsigned char>(data[0]) & 0x0fU);
        take_frame(kind, data.substr(size.header, size.payload), on_text);
        data.remove_prefix(size.header + size.payload);
    }
    return data;
}

void Subscriber::say(std::string_view text) {
    unsent_ += static_cast<char>(0x80U | text_frame);
    if (text.size() < 126) {
        unsent_ += static_cast<char>(0x80U | text.size());
    } else {  // up to 64 KiB
        unsent_ += static_cast<char>(0x80U | 126U);
        unsent_ += static_cast<char>(text.size() >> 8U);
        unsent_ += static_cast<char>(text.size() & 0xffU);
    }
    unsent_.append(4, '\0').append(text);  // masked with zeros
    send();
}

void Subscriber::take_frame(unsigned char kind, std::string_view payload, const OnText& on_text) {
    if (kind == text_frame) return on_text(*this, payload);
    if (kind == close_frame) state_ = State::ended;
    if (kind != ping_frame) return;
    unsent_.append("\x8a\x80\0\0\0\0", 6);  // an empty pong, masked with zeros
    send();
}

}  // namespace svc::bench
